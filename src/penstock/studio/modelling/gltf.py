"""The words of glTF 2.0, as far as they are read here; whatever else a file says is passed over."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

Index = Annotated[int, Meta(ge=0, le=1 << 31)]
"A count, or a place in a list or in the file."


class GltfAccessor(Struct, rename="camel", frozen=True):
    component_type: int
    count: Index
    type: str
    buffer_view: Index | None = None
    byte_offset: Index = 0
    normalized: bool = False
    sparse: Any = None


class GltfView(Struct, rename="camel", frozen=True):
    buffer: Index
    byte_length: Index
    byte_offset: Index = 0
    byte_stride: Index | None = None


class GltfBuffer(Struct, rename="camel", frozen=True):
    byte_length: Index
    uri: str | None = None


class GltfNode(Struct, rename="camel", frozen=True):
    name: str = ""
    children: list[Index] = []
    mesh: Index | None = None
    skin: Index | None = None
    matrix: list[float] | None = None
    translation: list[float] | None = None
    rotation: list[float] | None = None
    scale: list[float] | None = None


class GltfPrimitive(Struct, rename="camel", frozen=True):
    attributes: dict[str, Index]
    indices: Index | None = None
    material: Index | None = None
    mode: Index = 4
    extensions: dict[str, Any] = {}


class GltfMesh(Struct, rename="camel", frozen=True):
    primitives: list[GltfPrimitive] = []


class GltfScene(Struct, rename="camel", frozen=True):
    nodes: list[Index] = []


class GltfSkin(Struct, rename="camel", frozen=True):
    joints: list[Index]
    inverse_bind_matrices: Index | None = None


class GltfPlacement(Struct, rename="camel", frozen=True):
    """How a texture lies on its coordinates."""

    offset: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)


class GltfPlacements(Struct, rename={"placement": "KHR_texture_transform"}, frozen=True):
    placement: GltfPlacement | None = None


class GltfTextureUse(Struct, rename="camel", frozen=True):
    index: Index
    tex_coord: Index = 0
    extensions: GltfPlacements = GltfPlacements()


class GltfSurface(Struct, rename="camel", frozen=True):
    base_color_factor: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    base_color_texture: GltfTextureUse | None = None


class GltfMaterial(Struct, rename="camel", frozen=True):
    pbr_metallic_roughness: GltfSurface = GltfSurface()


class GltfSource(Struct, rename="camel", frozen=True):
    source: Index | None = None


class GltfSources(Struct, rename={"webp": "EXT_texture_webp"}, frozen=True):
    webp: GltfSource | None = None


class GltfTexture(Struct, rename="camel", frozen=True):
    source: Index | None = None
    extensions: GltfSources = GltfSources()


class GltfImage(Struct, rename="camel", frozen=True):
    buffer_view: Index | None = None


class GltfTarget(Struct, rename="camel", frozen=True):
    path: str
    node: Index | None = None


class GltfChannel(Struct, rename="camel", frozen=True):
    sampler: Index
    target: GltfTarget


class GltfSampler(Struct, rename="camel", frozen=True):
    input: Index
    output: Index
    interpolation: str = "LINEAR"


class GltfAnimation(Struct, rename="camel", frozen=True):
    channels: list[GltfChannel]
    samplers: list[GltfSampler]
    name: str = ""


class GltfAsset(Struct, rename="camel", frozen=True):
    version: str
    extras: Any = None


class Gltf(Struct, rename="camel", frozen=True):
    """A whole description."""

    asset: GltfAsset
    scene: Index | None = None
    scenes: list[GltfScene] = []
    nodes: list[GltfNode] = []
    meshes: list[GltfMesh] = []
    skins: list[GltfSkin] = []
    materials: list[GltfMaterial] = []
    textures: list[GltfTexture] = []
    images: list[GltfImage] = []
    animations: list[GltfAnimation] = []
    accessors: list[GltfAccessor] = []
    buffer_views: list[GltfView] = []
    buffers: list[GltfBuffer] = []
    extensions_required: list[str] = []
