"""The values of ``types`` as Django's choices."""

from __future__ import annotations

from django.db import models

from prism_memory import types


class TrustClass(models.TextChoices):
    USER = types.Trust.USER.value
    DOCUMENT = types.Trust.DOCUMENT.value
    AGENT = types.Trust.AGENT.value
    TOOL = types.Trust.TOOL.value
    SUBAGENT = types.Trust.SUBAGENT.value
    CONSOLIDATOR = types.Trust.CONSOLIDATOR.value
    SYSTEM = types.Trust.SYSTEM.value


class KindChoice(models.TextChoices):
    ENTRY = types.Kind.ENTRY.value
    CHUNK = types.Kind.CHUNK.value
    TURN = types.Kind.TURN.value
    NOTE = types.Kind.NOTE.value
    FACT = types.Kind.FACT.value


class TierChoice(models.TextChoices):
    NONE = types.Tier.NONE.value, "none"
    SEMANTIC = types.Tier.SEMANTIC.value
    EPISODIC = types.Tier.EPISODIC.value
    PROCEDURAL = types.Tier.PROCEDURAL.value


class ConsentSourceChoice(models.TextChoices):
    USER = types.ConsentSource.USER.value
    AGENT = types.ConsentSource.AGENT.value
    SYSTEM = types.ConsentSource.SYSTEM.value


class ConsentScopeChoice(models.TextChoices):
    THREAD = types.ConsentScope.THREAD.value
    PROFILE = types.ConsentScope.PROFILE.value
    USER = types.ConsentScope.USER.value


class ReadModeChoice(models.TextChoices):
    CHAIN = types.ReadMode.CHAIN.value
    EXACT = types.ReadMode.EXACT.value


class TombstoneReasonChoice(models.TextChoices):
    CORRECTED = types.TombstoneReason.CORRECTED.value
    REVOKED = types.TombstoneReason.REVOKED.value
    FORGOTTEN = types.TombstoneReason.FORGOTTEN.value
    LEGAL_HOLD = types.TombstoneReason.LEGAL_HOLD.value
    EXPIRED = types.TombstoneReason.EXPIRED.value


class HoldLevelChoice(models.TextChoices):
    RECORD = types.HoldLevel.RECORD.value
    SOURCE = types.HoldLevel.SOURCE.value
    SCOPE = types.HoldLevel.SCOPE.value


class ScopeLevelChoice(models.TextChoices):
    TENANT = types.ScopeLevel.TENANT.value
    OWNER = types.ScopeLevel.OWNER.value
    AGENT = types.ScopeLevel.AGENT.value
    THREAD = types.ScopeLevel.THREAD.value


class ErasureLevelChoice(models.TextChoices):
    RECORD = types.ErasureLevel.RECORD.value
    SOURCE = types.ErasureLevel.SOURCE.value
    THREAD = types.ErasureLevel.THREAD.value
    AGENT = types.ErasureLevel.AGENT.value
    OWNER = types.ErasureLevel.OWNER.value
    TENANT = types.ErasureLevel.TENANT.value


class PermissionChoice(models.TextChoices):
    READ = types.Permission.READ.value
    WRITE = types.Permission.WRITE.value
    GOVERN = types.Permission.GOVERN.value
    OPERATE = types.Permission.OPERATE.value


class GateState(models.TextChoices):
    OPEN = "open"
    QUARANTINED = "quarantined"


class SourceState(models.TextChoices):
    ACTIVE = "active"
    RETIRED = "retired"


class IngestionState(models.TextChoices):
    PENDING = "pending"
    INDEXED = "indexed"
    PARTIAL = "partial"
    FAILED = "failed"


class SpaceState(models.TextChoices):
    BUILDING = "building"
    ACTIVE = "active"
    RETIRED = "retired"


class IndexMode(models.TextChoices):
    NONE = "none"
    HNSW = "hnsw"


class RunState(models.TextChoices):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
