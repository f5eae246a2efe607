"""Legs that step: each foot is put down, stays where it is while the body goes over it, and is lifted to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from penstock.studio.modelling.geometry import turn
from penstock.studio.modelling.model import Doubles
from penstock.studio.modelling.movement import UP, Movement

_DOWN = 0.6
"The part of a step in which a foot is on the ground."
_STRETCHED = 0.995


@dataclass(frozen=True, slots=True)
class Leg:
    """Its joints from the top down, and which way its knee bends: 1 forward, -1 backward."""

    upper: str
    lower: str
    foot: str
    bends: int = 1


def step(movement: Movement, leg: Leg, *, delay: float, length: float, lift: float) -> None:
    """Let a leg walk on the spot: steps as long and as high as told, in metres."""
    forward, up, pitch = _path(movement.phase + delay, length, lift)
    reach_for(movement, leg, forward, up, pitch)


def _path(phase: Doubles, length: float, lift: float) -> tuple[Doubles, Doubles, Doubles]:
    """How far a foot is before its place and above it, and how far its toes point down."""
    phase = phase % 1.0
    air = np.clip((phase - _DOWN) / (1 - _DOWN), 0, 1)
    swing = 0.5 - 0.5 * np.cos(np.pi * air)
    forward = np.where(phase < _DOWN, 0.5 - phase / _DOWN, swing - 0.5) * length
    up = np.sin(np.pi * air) ** 1.2 * lift
    pitch = np.sin(np.pi * air) * np.cos(np.pi * air * 0.9) * 0.55
    return forward, up, pitch


def reach_for(movement: Movement, leg: Leg, forward: Doubles, up: Doubles, pitch: Doubles) -> None:
    """Bend a leg so that its foot is that far from its place, wherever the root has taken the hip."""
    hip, knee, ankle = (movement.rest(joint) for joint in (leg.upper, leg.lower, leg.foot))
    thigh, shin = _flat(movement, knee - hip), _flat(movement, ankle - knee)
    long, short = float(np.linalg.norm(thigh)), float(np.linalg.norm(shin))
    wanted = _flat(movement, ankle - hip - movement.shift) + np.stack([forward, up], axis=1)
    away = np.linalg.norm(wanted, axis=1)
    far = np.clip(away, abs(long - short) * 1.01 + 1e-6, (long + short) * _STRETCHED)
    wanted = wanted * (far / np.maximum(away, 1e-9))[:, None]
    bend = np.arccos(np.clip((long**2 + far**2 - short**2) / np.maximum(2 * long * far, 1e-12), -1, 1))
    first = _angle(wanted) + leg.bends * bend
    second = _angle(wanted - long * np.stack([np.sin(first), -np.cos(first)], axis=1))
    movement.set(leg.upper, turn(movement.left, _angle(thigh) - first))
    movement.set(leg.lower, turn(movement.left, _angle(shin) - second))
    movement.set(leg.foot, turn(movement.left, pitch))


def leg_length(movement: Movement, leg: Leg) -> float:
    hip, knee, ankle = (movement.rest(joint) for joint in (leg.upper, leg.lower, leg.foot))
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


def _flat(movement: Movement, vectors: Doubles) -> Doubles:
    """As seen from the side: how far forward, how far up."""
    return np.stack([vectors @ movement.forward, vectors @ UP], axis=-1)


def _angle(vectors: Doubles) -> Doubles:
    """From straight down, forward."""
    return np.arctan2(vectors[..., 0], -vectors[..., 1])
