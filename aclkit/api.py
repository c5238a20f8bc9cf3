"""What Python code of others imports: questions, previews, Kafka's Authorizer, principal builders.

Every other module may be moved or renamed by the next version; these names stay.
"""

from aclkit.cli.output import write_rows
from aclkit.kafka.authorizer.authorizer import Authorizer
from aclkit.kafka.authorizer.requests import Action, Endpoint, RequestContext, ServerInfo
from aclkit.kafka.authorizer.warehouse import over_warehouse
from aclkit.kafka.principals.principal import ChannelPrincipal, KafkaPrincipal, PrincipalBuilder
from aclkit.kafka.principals.x500 import X500Builder
from aclkit.model.acl import ANY_OTHER, Acl
from aclkit.model.filter import AclBindingFilter
from aclkit.model.resource import Resource
from aclkit.pipeline.inventory.attribute_table import AttributeTableBuilder
from aclkit.questions.clusters.answer import clusters_sentence
from aclkit.questions.clusters.compare import compare_clusters
from aclkit.questions.clusters.mapped_acls import maps_of
from aclkit.questions.difference.change import Change
from aclkit.questions.difference.compared import preview
from aclkit.questions.preview.topics import preview_topics
from aclkit.questions.query.access import who_can
from aclkit.questions.query.decide_unlisted import decide_outside
from aclkit.questions.query.history import read_history
from aclkit.questions.query.history_answer import history_rows
from aclkit.questions.query.history_words import history_sentence
from aclkit.questions.query.what_can import what_can
from aclkit.questions.query.why import explain_why
from aclkit.questions.query.why_answer import why_rows
from aclkit.questions.query.words import why_sentence
from aclkit.questions.read_state import Warehouse, read_state, read_states
from aclkit.questions.state import State
from aclkit.rules.decide.confirm import Comparison
from aclkit.rules.names.question import Budget
from aclkit.rules.names.rows import Rules
from aclkit.runtime.storage_settings import use_storage
from aclkit.warehouse.duck import connect, fetch
from aclkit.warehouse.published import open_warehouse
from aclkit.warehouse.result_rows import Rows
from aclkit.warehouse.sql import run_sql

__all__ = [
    "ANY_OTHER",
    "Acl",
    "AclBindingFilter",
    "Action",
    "AttributeTableBuilder",
    "Authorizer",
    "Budget",
    "Change",
    "ChannelPrincipal",
    "Comparison",
    "Endpoint",
    "KafkaPrincipal",
    "PrincipalBuilder",
    "RequestContext",
    "Resource",
    "Rows",
    "Rules",
    "ServerInfo",
    "State",
    "Warehouse",
    "X500Builder",
    "clusters_sentence",
    "compare_clusters",
    "connect",
    "decide_outside",
    "explain_why",
    "fetch",
    "history_rows",
    "history_sentence",
    "maps_of",
    "open_warehouse",
    "over_warehouse",
    "preview",
    "preview_topics",
    "read_history",
    "read_state",
    "read_states",
    "run_sql",
    "use_storage",
    "what_can",
    "who_can",
    "why_rows",
    "why_sentence",
    "write_rows",
]
