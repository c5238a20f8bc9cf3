"""DescribeDelegationToken (KIP-48, api key 41), which kafka-python does not have.

The layouts are JSON next to this file, in Kafka's own form, for kafka-python to read.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage


class DescribeDelegationTokenRequest(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """Ask for delegation tokens; without owners, for all that the user may see."""


class DescribeDelegationTokenResponse(ApiMessage, load_json=__name__):  # type: ignore[call-arg, misc]  # kafka-python has no types
    """Tokens with their ids, owners and HMACs; the HMAC is the token's password."""
