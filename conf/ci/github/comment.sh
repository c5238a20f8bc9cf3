#!/bin/sh
# Post the gate's comment to a pull request, or update the one that an earlier run posted.
#
# Input: COMMENT (the file), REPOSITORY (owner/name), PULL (its number), AUTHOR (whose comment is
# updated: the token's own user) and GH_TOKEN, which needs the permission pull-requests: write.
set -eu

: "${COMMENT:?}" "${REPOSITORY:?}" "${PULL:?}"
export AUTHOR="${AUTHOR:-github-actions[bot]}"

# Anyone can write the marker, so a comment of another user is left alone.
# shellcheck disable=SC2016
ids=$(gh api --paginate "repos/$REPOSITORY/issues/$PULL/comments?per_page=100" --jq \
  '.[] | select(.user.login == env.AUTHOR and (.body | startswith("<!-- aclkit preview -->"))) | .id')
id=$(printf '%s\n' "$ids" | head -n 1)

if [ -n "$id" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$id" -F "body=@$COMMENT"
else
  gh api --silent --method POST "repos/$REPOSITORY/issues/$PULL/comments" -F "body=@$COMMENT"
fi
