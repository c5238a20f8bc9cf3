"""A broker that speaks just enough of Kafka's protocol to be asked for its ACLs."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager

from kafka.protocol.admin import DescribeAclsRequest, DescribeAclsResponse
from kafka.protocol.metadata import ApiVersionsResponse, MetadataResponse
from kafka.protocol.sasl import SaslAuthenticateResponse, SaslHandshakeResponse

API_VERSIONS, METADATA, DESCRIBE_ACLS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 3, 29, 17, 36


class FakeBroker:
    """Answers ApiVersions, Metadata, DescribeAcls and (always refusing) SASL.

    ``acls`` is a list of (type, name, pattern, principal, host, operation, permission) with codes.
    """

    def __init__(self, acls=(), *, max_version=3, error=(0, None), is_mute=False):
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
                    if not self.is_mute:
                        connection.sendall(self._answer(frame))

    def _answer(self, frame):
        key, version, correlation = struct.unpack(">hhi", frame[:8])
        if key == DESCRIBE_ACLS:
            self.asked.append(DescribeAclsRequest.decode(frame, version=version, header=True))
        makers = {
            API_VERSIONS: self._api_versions,
            METADATA: self._metadata,
            DESCRIBE_ACLS: self._describe_acls,
            SASL_HANDSHAKE: lambda: SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"]),
            SASL_AUTHENTICATE: lambda: SaslAuthenticateResponse(
                error_code=58, error_message="Authentication failed", auth_bytes=b""
            ),
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
        }
        keys = [entry(api_key=k, min_version=a, max_version=b) for k, (a, b) in ranges.items()]
        return ApiVersionsResponse(error_code=0, api_keys=keys)

    def _metadata(self):
        broker = MetadataResponse.MetadataResponseBroker(
            node_id=1, host="127.0.0.1", port=self.port, rack=None
        )
        return MetadataResponse(
            brokers=[broker], cluster_id="fake-cluster", controller_id=1, topics=[]
        )

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


@contextmanager
def fake_broker(*args, **options):
    """Run a fake broker for the time of a test."""
    broker = FakeBroker(*args, **options)
    try:
        yield broker
    finally:
        broker.close()
