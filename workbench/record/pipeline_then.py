"""A pipeline as it was when a session began or was gone on with: to say later what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from workbench.pipeline.fingerprint import fingerprints
from workbench.pipeline.outline import Outline, outline_of
from workbench.pipeline.parameters import ParameterValue
from workbench.pipeline.prepare import Prepared
from workbench.record.redaction import Redactor
from workbench.record.values import pack, unpack

Parameters = Mapping[str, Mapping[str, ParameterValue]]


class PipelineThen(Struct, frozen=True):
    """``parameters`` (alias -> name -> value) are masked where they are secret; ``fingerprints`` are of all it uses."""

    text: str = ""
    outline: Outline = ()
    parameters: Parameters = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prepared: Prepared, redactor: Redactor) -> PipelineThen:
        masked = {
            alias: {name: _masked(parameter, redactor) for name, parameter in section.items()}
            for alias, section in prepared.parameters.values.items()
        }
        return cls(redactor.text(prepared.pipeline.text), outline_of(prepared.pipeline), masked, fingerprints(prepared))

    def content(self) -> bytes:
        return pack(msgspec.to_builtins(self))

    def begin_parameters(self, now: Parameters, redactor: Redactor) -> Parameters:
        """What a run began with: as it was kept; a secret, of which only the mask was, is taken from those of today."""
        begin: dict[str, dict[str, ParameterValue]] = {}
        for alias, section in self.parameters.items():
            today = now.get(alias, {})
            begin[alias] = {name: _unmasked(then, today.get(name), redactor) for name, then in section.items()}
        return begin


def read_pipeline_then(content: bytes) -> PipelineThen:
    """Raises ``ValueError`` where the bytes are damaged."""
    fields: dict[str, Any] = unpack(content)
    sections = fields["parameters"].items()
    return PipelineThen(
        fields["text"],
        msgspec.convert(fields["outline"], Outline),
        {alias: {n: msgspec.convert(p, ParameterValue) for n, p in section.items()} for alias, section in sections},
        fields["fingerprints"],
    )


def _masked(parameter: ParameterValue, redactor: Redactor) -> ParameterValue:
    return ParameterValue(redactor.value(parameter.value), parameter.origin, parameter.missing)


def _unmasked(then: ParameterValue, now: ParameterValue | None, redactor: Redactor) -> ParameterValue:
    return (
        ParameterValue(_filled(then.value, now.value, redactor), then.origin, then.missing) if now is not None else then
    )


def _filled(then: Any, now: Any, redactor: Redactor) -> Any:
    """A value as it was kept, with the secrets of today in the places of their masks."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: _filled(value, now.get(key), redactor) for key, value in then.items()}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [_filled(one, other, redactor) for one, other in zip(then, now, strict=True)]
    return now if isinstance(then, str) and redactor.value(now) == then else then
