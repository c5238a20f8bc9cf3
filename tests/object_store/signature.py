"""A request's headers × the one key that is known → whether S3 would take its signature (V4)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

_AUTHORIZATION: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]*)/s3/aws4_request, ?"
    r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})"
)


def refusal(
    method: str, target: str, headers: Mapping[str, str], key: tuple[str, str], region: str
) -> tuple[int, str, str] | None:
    """Return status, code and message of a refusal, as S3 has them; None where all is well.

    Args:
        method: of the request.
        target: its path and query, as they were sent.
        headers: by their names in small letters.
        key: access key and secret.
        region: where the buckets are.
    """
    told = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if told is None:
        return 403, "AccessDenied", "Access Denied"
    access, day, scope_region, names, signature = told.groups()
    if access != key[0]:
        text = "The AWS Access Key Id you provided does not exist in our records."
        return 403, "InvalidAccessKeyId", text
    if scope_region != region:
        text = f"the region '{scope_region}' is wrong; expecting '{region}'"
        return 400, "AuthorizationHeaderMalformed", f"The authorization header is malformed; {text}"
    scope = f"{day}/{region}/s3/aws4_request"
    wanted = _signature(_to_sign(method, target, headers, names, scope), key[1], day, region)
    if hmac.compare_digest(wanted, signature):
        return None
    text = "The request signature we calculated does not match the signature you provided."
    return 403, "SignatureDoesNotMatch", text


def _to_sign(method: str, target: str, headers: Mapping[str, str], names: str, scope: str) -> str:
    path, _, query = target.partition("?")
    pairs = sorted(
        tuple(quote(unquote(part), safe="-_.~") for part in pair.partition("=")[::2])
        for pair in query.split("&")
        if pair
    )
    said = (f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in names.split(";"))
    canonical = "\n".join(
        [
            method,
            quote(unquote(path), safe="/-_.~"),
            "&".join(f"{name}={value}" for name, value in pairs),
            "".join(said),
            names,
            headers.get("x-amz-content-sha256", ""),
        ]
    )
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return f"AWS4-HMAC-SHA256\n{headers.get('x-amz-date', '')}\n{scope}\n{digest}"


def _signature(text: str, secret: str, day: str, region: str) -> str:
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, text.encode(), "sha256").hexdigest()
