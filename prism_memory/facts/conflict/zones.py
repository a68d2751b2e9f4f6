"""How near the nearest other claim is, by raw cosine. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from prism_memory.errors import Invalid
from prism_memory.types import ConflictZone, check_finite


@dataclass(frozen=True)
class Thresholds:
    """Where the zones begin, as raw cosines: 0 ≤ cold ≤ near ≤ hot ≤ 1.

    Args:
        hot: From here on it is the same claim.
        near: From here on it is the same claim, unless its words say more.
        cold: Up to here it is another claim.

    Raises:
        Invalid: They are out of order or of bounds; the error names the first.

    Source: S3.
    """

    hot: float = 0.95
    near: float = 0.85
    cold: float = 0.4

    def __post_init__(self) -> None:
        least, below = 0.0, "0"
        for name in ("cold", "near", "hot"):
            value = check_finite(getattr(self, name), name)
            if not least <= value <= 1:
                message = f"{name} must be from {below} to 1, not {value}."
                raise Invalid(message, field=name)
            least, below = value, f"{name}, {value},"

    def zone(self, cosine: float) -> ConflictZone:
        """Return the zone of a raw cosine, -1..1."""
        if cosine >= self.hot:
            return ConflictZone.HOT
        if cosine >= self.near:
            return ConflictZone.NEAR_DUP
        if cosine > self.cold:
            return ConflictZone.CHECK
        return ConflictZone.COLD
