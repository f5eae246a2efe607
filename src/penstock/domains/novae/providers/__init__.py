"""Whoever knows of novae elsewhere: their names, the papers about them, and their files; each behind a port.

| port | adapters |
|---|---|
| `SpectraProvider` | `LocalIndex`, `SsaProvider`, `ObsCoreProvider` |
| `PhotometryProvider` | `LocalIndex` |
| `NameResolver` | `LocalIndex`, `MastResolver` |
| `Bibliography` | `LocalIndex`, `AdsBibliography` |

Importing this loads neither astropy nor pyvo: they come with the first question to a Virtual Observatory.
"""
