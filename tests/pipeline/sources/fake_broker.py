"""A broker that speaks just enough of Kafka's protocol to be asked for its ACLs."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager

from kafka.protocol.admin import (
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeConfigsResponse,
    DescribeLogDirsResponse,
    DescribeUserScramCredentialsResponse,
    ListGroupsResponse,
    ListTransactionsResponse,
)
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeResponse,
)

from aclkit.kafka.client.messages import DescribeDelegationTokenResponse

API_VERSIONS, METADATA, DESCRIBE_ACLS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 3, 29, 17, 36
USERS, TOKENS, CONFIGS, GROUPS, TRANSACTIONS, LOG_DIRS = 50, 41, 32, 16, 66, 35
NEWEST = {USERS: (0, 0), TOKENS: (1, 3), CONFIGS: (1, 4), GROUPS: (0, 5), TRANSACTIONS: (0, 1),
          LOG_DIRS: (1, 4)}  # fmt: skip
FEATURE = ApiVersionsResponse.FinalizedFeatureKey


class FakeBroker:
    """Answers ApiVersions, Metadata, DescribeAcls and (always refusing) SASL, and what it is told.

    ``acls`` is a list of (type, name, pattern, principal, host, operation, permission) with codes;
    ``parts`` has a message for each further key of the API, which no other broker knows; ``topics``
    are names with ids; ``cluster_ids`` are told one after the other; ``others`` are further
    brokers of the cluster; ``supports`` are the lowest and highest metadata.version, or None for a
    broker that names none; ``more_keys`` are further keys of the API with their versions;
    ``hangs_up_on`` and ``silent_on`` are keys that it closes the connection on, or never answers;
    ``without`` are keys that it does not offer.
    """

    def __init__(
        self,
        acls=(),
        *,
        max_version=3,
        error=(0, None),
        is_mute=False,
        parts=None,
        topics=(),
        cluster_ids=("fake-cluster",),
        others=(),
        node_id=1,
        users=None,
        supports=(1, 25),
        in_force=25,
        more_keys=None,
        hangs_up_on=(),
        silent_on=(),
        without=(),
    ):
        self.parts = parts or {}
        self.topics = list(topics)
        self.cluster_ids = list(cluster_ids)
        self.others = list(others)
        self.node_id = node_id
        self.users = users
        self.supports = supports
        self.in_force = in_force
        self.more_keys = more_keys or {}
        self.hangs_up_on, self.silent_on, self.without = hangs_up_on, silent_on, without
        self.logins = []
        self.acls = list(acls)
        self.max_version = max_version
        self.error = error
        self.is_mute = is_mute
        self.asked = []
        self._stop = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.1)
        self.port = self._listener.getsockname()[1]
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self):
        self._stop.set()
        for thread in list(self._threads):
            thread.join(5)
        self._listener.close()

    def _accept(self):
        while not self._stop.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection):
        connection.settimeout(0.1)
        pending = b""
        with connection:
            while not self._stop.is_set():
                try:
                    received = connection.recv(65536)
                except TimeoutError:
                    continue
                except OSError:
                    return
                if not received:
                    return
                pending += received
                while len(pending) >= 4 and len(pending) >= 4 + int.from_bytes(pending[:4]):
                    size = int.from_bytes(pending[:4])
                    frame, pending = pending[4 : 4 + size], pending[4 + size :]
                    key = int.from_bytes(frame[:2])
                    if key in self.hangs_up_on:
                        return
                    if self.is_mute or key in self.silent_on:
                        continue
                    connection.sendall(self._answer(frame))
                    if frame[:2] == SASL_AUTHENTICATE.to_bytes(2) and not self.users:
                        return  # like Kafka: the reason, and the end at once

    def _answer(self, frame):
        key, version, correlation = struct.unpack(">hhi", frame[:8])
        if key == DESCRIBE_ACLS:
            self.asked.append(DescribeAclsRequest.decode(frame, version=version, header=True))
        makers = {
            API_VERSIONS: self._api_versions,
            METADATA: self._metadata,
            DESCRIBE_ACLS: self._describe_acls,
            SASL_HANDSHAKE: lambda: SaslHandshakeResponse(
                error_code=0, mechanisms=["PLAIN", "OAUTHBEARER"]
            ),
            SASL_AUTHENTICATE: lambda: self._authenticate(frame, version),
            **{key: lambda told=told: told for key, told in self.parts.items()},
        }
        response = makers[key]()
        response.API_VERSION = version
        response.with_header(correlation_id=correlation)
        return response.encode(header=True, framed=True)

    def _api_versions(self):
        entry = ApiVersionsResponse.ApiVersion
        ranges = {
            API_VERSIONS: (0, 4),
            METADATA: (0, 12),
            DESCRIBE_ACLS: (0 if self.max_version == 0 else 1, self.max_version),
            SASL_HANDSHAKE: (0, 1),
            SASL_AUTHENTICATE: (0, 2),
            **{key: NEWEST[key] for key in self.parts},
            **self.more_keys,
        }
        keys = [
            entry(api_key=k, min_version=a, max_version=b)
            for k, (a, b) in ranges.items()
            if k not in self.without
        ]
        name, most = "metadata.version", self.in_force
        level = FEATURE(name=name, max_version_level=most, min_version_level=most)
        supported = ApiVersionsResponse.SupportedFeatureKey
        return ApiVersionsResponse(
            error_code=0,
            api_keys=keys,
            supported_features=[
                supported(name=name, min_version=low, max_version=high)
                for low, high in filter(None, [self.supports])
            ],
            finalized_features_epoch=1,
            finalized_features=[level],
            zk_migration_ready=False,
        )

    def _authenticate(self, frame, version):
        request = SaslAuthenticateRequest.decode(frame, version=version, header=True)
        self.logins.append(bytes(request.auth_bytes))
        if self.users and bytes(request.auth_bytes) in self.users:
            return SaslAuthenticateResponse(
                error_code=0, error_message=None, auth_bytes=b"", session_lifetime_ms=0
            )
        return SaslAuthenticateResponse(
            error_code=58, error_message="Authentication failed", auth_bytes=b""
        )

    def _metadata(self):
        broker = MetadataResponse.MetadataResponseBroker
        brokers = [
            broker(node_id=one.node_id, host="127.0.0.1", port=one.port, rack=None)
            for one in (self, *self.others)
        ]
        topics = [
            MetadataResponse.MetadataResponseTopic(
                error_code=0, name=name, topic_id=topic_id, is_internal=False, partitions=[]
            )
            for name, topic_id in self.topics
        ]
        told = self.cluster_ids.pop(0) if len(self.cluster_ids) > 1 else self.cluster_ids[0]
        return MetadataResponse(brokers=brokers, cluster_id=told, controller_id=1, topics=topics)

    def _describe_acls(self):
        resource = DescribeAclsResponse.DescribeAclsResource
        description = resource.AclDescription
        resources = [
            resource(
                resource_type=kind,
                resource_name=name,
                pattern_type=pattern,
                acls=[
                    description(
                        principal=principal,
                        host=host,
                        operation=operation,
                        permission_type=permission,
                    )
                ],
            )
            for kind, name, pattern, principal, host, operation, permission in self.acls
        ]
        code, message = self.error
        return DescribeAclsResponse(error_code=code, error_message=message, resources=resources)


def scram_users(*names, error=0):
    """Answer DescribeUserScramCredentials: each user with SCRAM-SHA-256."""
    result = DescribeUserScramCredentialsResponse.DescribeUserScramCredentialsResult
    return DescribeUserScramCredentialsResponse(
        throttle_time_ms=0,
        error_code=error,
        error_message=None,
        results=[
            result(
                user=name,
                error_code=0,
                error_message=None,
                credential_infos=[result.CredentialInfo(mechanism=1, iterations=8192)],
            )
            for name in names
        ],
    )


def groups(*names, error=0):
    """Answer ListGroups."""
    group = ListGroupsResponse.ListedGroup
    return ListGroupsResponse(
        throttle_time_ms=0,
        error_code=error,
        groups=[
            group(group_id=name, protocol_type="consumer", group_state="", group_type="")
            for name in names
        ],
    )


def transactions(*names, error=0):
    """Answer ListTransactions."""
    state = ListTransactionsResponse.TransactionState
    return ListTransactionsResponse(
        throttle_time_ms=0,
        error_code=error,
        unknown_state_filters=[],
        transaction_states=[
            state(transactional_id=name, producer_id=1, transaction_state="Ongoing")
            for name in names
        ],
    )


def tokens(*owners, hmac=b"", error=0):
    """Answer DescribeDelegationToken: a token ``id-NAME`` for each User:NAME."""
    token = DescribeDelegationTokenResponse.Token
    return DescribeDelegationTokenResponse(
        error_code=error,
        throttle_time_ms=0,
        tokens=[
            token(
                principal_type="User",
                principal_name=name,
                requester_type="User",
                requester_name=name,
                issue_timestamp=1,
                expiry_timestamp=2,
                max_timestamp=3,
                token_id=f"id-{name}",
                hmac=hmac,
                renewers=[],
            )
            for name in owners
        ],
    )


def log_dirs(*names, error=0):
    """Answer DescribeLogDirs: a partition of each topic; without a folder where it is refused."""
    folder = DescribeLogDirsResponse.DescribeLogDirsResult
    topic = folder.DescribeLogDirsTopic
    partition = topic.DescribeLogDirsPartition(
        partition_index=0, partition_size=1, offset_lag=0, is_future_key=False
    )
    return DescribeLogDirsResponse(
        throttle_time_ms=0,
        error_code=error,
        results=[]
        if error
        else [
            folder(
                error_code=0,
                log_dir="/data",
                topics=[topic(name=name, partitions=[partition]) for name in names],
                total_bytes=1,
                usable_bytes=1,
            )
        ],
    )


def configs(error=0, **values):
    """Answer DescribeConfigs; ``_`` in a key stands for a dot, None for a value kept back."""
    result = DescribeConfigsResponse.DescribeConfigsResult
    entry = result.DescribeConfigsResourceResult
    return DescribeConfigsResponse(
        throttle_time_ms=0,
        results=[
            result(
                error_code=error,
                error_message=None,
                resource_type=4,
                resource_name="1",
                configs=[
                    entry(
                        name=key.replace("_", "."),
                        value=value,
                        read_only=True,
                        config_source=4,
                        is_sensitive=value is None,
                        synonyms=[],
                        config_type=0,
                        documentation=None,
                    )
                    for key, value in values.items()
                ],
            )
        ],
    )


@contextmanager
def fake_broker(*args, **options):
    """Run a fake broker for the time of a test."""
    broker = FakeBroker(*args, **options)
    try:
        yield broker
    finally:
        broker.close()
