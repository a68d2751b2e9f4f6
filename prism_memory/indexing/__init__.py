"""Keep the vectors true: spaces, the queue, the index."""

from prism_memory.indexing.agreement import Agreement
from prism_memory.indexing.at_once import embed_now
from prism_memory.indexing.building import build_space
from prism_memory.indexing.calibrate import calibrate
from prism_memory.indexing.claims import Queue, retry_failed
from prism_memory.indexing.compare import compare_spaces
from prism_memory.indexing.copies import (
    Copied,
    copy,
    count_copies,
    count_gone,
    forget_index,
    reconcile,
    tell_removed,
)
from prism_memory.indexing.costs import Calibration, Measured
from prism_memory.indexing.cure import cure
from prism_memory.indexing.drain import Drained, drain
from prism_memory.indexing.drop_space import drop_space
from prism_memory.indexing.enqueue import enqueue_missing, requeue_stale
from prism_memory.indexing.examine import examine
from prism_memory.indexing.fill import Filled, FilledPage, fill, fill_page
from prism_memory.indexing.filling import (
    AFTERMATH,
    is_to_catch_up,
    is_to_fill,
    resume_fill,
    start_fill,
    switched_lately,
)
from prism_memory.indexing.following import follow_embedders
from prism_memory.indexing.hnsw import (
    EF_CONSTRUCTION,
    IndexState,
    M,
    create_index,
    drop_index,
    index_name,
    index_state,
    refuse_while_built,
)
from prism_memory.indexing.progress import (
    Done,
    Held,
    Indexed,
    Pending,
    held,
    in_host_transaction,
    pending,
    pending_of_tenant,
)
from prism_memory.indexing.rebuild import (
    Rebuilt,
    RebuiltPage,
    rebuild,
    rebuild_page,
)
from prism_memory.indexing.rebuilding import resume_rebuild, start_rebuild
from prism_memory.indexing.recount import recount
from prism_memory.indexing.sizes import table_sizes
from prism_memory.indexing.spaces import (
    Space,
    active,
    embeddable,
    embedder_of,
    find_active,
    find_live,
    is_situated_otherwise,
    known_space,
    live,
    note_situate,
    space_of,
)
from prism_memory.indexing.switch import behind, reopen_space, stale, switch_space
from prism_memory.indexing.tenants import is_waiting, random_tenant, tenants, waiting
from prism_memory.runs import back_off_seconds

__all__ = [
    "AFTERMATH",
    "EF_CONSTRUCTION",
    "Agreement",
    "Calibration",
    "Copied",
    "Done",
    "Drained",
    "Filled",
    "FilledPage",
    "Held",
    "IndexState",
    "Indexed",
    "M",
    "Measured",
    "Pending",
    "Queue",
    "Rebuilt",
    "RebuiltPage",
    "Space",
    "active",
    "back_off_seconds",
    "behind",
    "build_space",
    "calibrate",
    "compare_spaces",
    "copy",
    "count_copies",
    "count_gone",
    "create_index",
    "cure",
    "drain",
    "drop_index",
    "drop_space",
    "embed_now",
    "embeddable",
    "embedder_of",
    "enqueue_missing",
    "examine",
    "fill",
    "fill_page",
    "find_active",
    "find_live",
    "follow_embedders",
    "forget_index",
    "held",
    "in_host_transaction",
    "index_name",
    "index_state",
    "is_situated_otherwise",
    "is_to_catch_up",
    "is_to_fill",
    "is_waiting",
    "known_space",
    "live",
    "note_situate",
    "pending",
    "pending_of_tenant",
    "random_tenant",
    "rebuild",
    "rebuild_page",
    "reconcile",
    "recount",
    "refuse_while_built",
    "reopen_space",
    "requeue_stale",
    "resume_fill",
    "resume_rebuild",
    "retry_failed",
    "space_of",
    "stale",
    "start_fill",
    "start_rebuild",
    "switch_space",
    "switched_lately",
    "table_sizes",
    "tell_removed",
    "tenants",
    "waiting",
]
