"""A scene drawn by a graphics card, through WebGPU (the package wgpu): the same picture as Matplotlib's, many times as fast.

What stands still, axes, numbers and grid, is drawn once by Matplotlib, for each view, and lies behind as an image. Bodies'
triangles stay on the card, which gets their poses alone; camera, light and colours are those of `Scene`, whose projection is
taken over. What is drawn later covers what is drawn before, in Matplotlib's order: planes, shadows, the trace, faces (of which
the nearest is seen), lines, dots, arrows, texts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from .scene import AMBIENT, FORCE, PARTICLE, SHADOW, TRACE, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Samples a pixel, and the corners of a dot.
_SAMPLES, _ROUND = 4, 12
#: How far behind and before the view's box something is drawn, in its diagonals.
_REACH = 4.0
#: Backgrounds that are kept.
_KEPT = 32
_HOW = "pip install 'mobod[wgpu]'"

_SHADER = """
struct Scene {
    see: mat4x4<f32>,      // from the display's frame to the card's box
    light: vec4<f32>,      // unit vector; its last number is the brightness of what is turned away
    shadow: vec4<f32>,     // the colour of shadows
    floor: vec4<f32>,      // the height of the floor
};
@group(0) @binding(0) var<uniform> scene: Scene;
@group(0) @binding(1) var<storage, read> poses: array<mat4x4<f32>>;
@group(0) @binding(2) var behind: texture_2d<f32>;

struct Corner {
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
    @location(3) body: u32,      // twice its number, and 1 where the back of the face is never seen
};
struct Lit {
    @builtin(position) at: vec4<f32>,
    @location(0) front: vec4<f32>,
    @location(1) back: vec4<f32>,
    @location(2) @interpolate(flat) closed: u32,
};

fn brightness(n: vec3<f32>) -> f32 {
    return scene.light.w + (1.0 - scene.light.w) * max(dot(n, scene.light.xyz), 0.0);
}

@vertex fn face(in: Corner) -> Lit {
    let pose = poses[in.body / 2u];
    let n = (pose * vec4<f32>(in.normal, 0.0)).xyz;
    var out: Lit;
    out.at = scene.see * pose * vec4<f32>(in.place, 1.0);
    out.front = vec4<f32>(in.color.rgb * brightness(n), in.color.a);
    out.back = vec4<f32>(in.color.rgb * brightness(-n), in.color.a);
    out.closed = in.body % 2u;
    return out;
}
@fragment fn lit(in: Lit, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    if (!front && in.closed == 1u) { discard; }
    return select(in.back, in.front, front);
}
@vertex fn shadow(in: Corner) -> @builtin(position) vec4<f32> {
    var p = poses[in.body / 2u] * vec4<f32>(in.place, 1.0);
    p.z = scene.floor.x;
    return scene.see * p;
}
@fragment fn dark() -> @location(0) vec4<f32> { return scene.shadow; }

struct Flat { @builtin(position) at: vec4<f32>, @location(0) color: vec4<f32> };
@vertex fn flat_at(@location(0) place: vec2<f32>, @location(1) color: vec4<f32>) -> Flat {
    var out: Flat;
    out.at = vec4<f32>(place, 0.0, 1.0);
    out.color = color;
    return out;
}
@fragment fn flat_color(in: Flat) -> @location(0) vec4<f32> { return in.color; }

@vertex fn screen(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(i32(i & 1u) * 4 - 1), f32(i32(i >> 1u) * 4 - 1), 0.0, 1.0);
}
@fragment fn image(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return textureLoad(behind, vec2<i32>(at.xy), 0);
}
"""


class NoCard(RuntimeError):
    """There is nothing that could draw: the message says what is missing."""


@cache
def find_card() -> tuple[Any, str]:
    """The device that draws, and its name; it is looked for once.

    Raises
    ------
    NoCard
        If wgpu is not installed, or finds neither a graphics card nor software that stands for one.
    """
    try:
        import wgpu
    except ImportError:
        raise NoCard(f"wgpu is not installed: {_HOW}") from None
    except (OSError, RuntimeError) as error:  # without the native library for this platform
        raise NoCard(f"wgpu does not load: {error}") from None
    try:
        adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        device = adapter.request_device_sync()
    except RuntimeError as error:
        raise NoCard(f"wgpu finds no graphics card, nor software that stands for one: {error}") from None
    kind = str(adapter.info["adapter_type"])
    software = ", software on the processor" if kind.upper() == "CPU" else ""
    return device, f"{adapter.info['device']} by {adapter.info['backend_type']}{software}"


class CardScene:
    """Pictures of a `Scene` by the graphics card.

    Parameters
    ----------
    scene : Scene
        Alone on its figure, whose canvas is Agg's.

    Attributes
    ----------
    name : str
        Of what draws.

    Raises
    ------
    NoCard
        See `find_card`.
    """

    def __init__(self, scene: Scene) -> None:
        self._device, self.name = find_card()
        self._scene = scene
        figure: Any = scene.axes.figure
        self._figure: Figure = figure
        figure.canvas.draw()
        self._height, self._width = np.asarray(figure.canvas.buffer_rgba()).shape[:2]
        self._backgrounds: dict[bytes, tuple[Any, Array]] = {}
        self._sprites: dict[tuple[str, Any], tuple[NDArray[np.uint8], int, int]] = {}
        self._make_buffers()
        self._make_pipelines()
        self._make_targets()

    # ------------------------------------------------------------------------------------------ once

    def _make_buffers(self) -> None:
        import wgpu

        places, normals, colors, bodies = self._scene.mechanism.find_corners()
        opaque = colors[:, 3] >= 1.0
        order = np.concatenate([np.flatnonzero(opaque), np.flatnonzero(~opaque)])
        self._num_opaque, self._num_corners = int(opaque.sum()), len(order)
        corners = np.zeros(max(1, len(order)), [("x", "<f4", 3), ("n", "<f4", 3), ("c", "<f4", 4), ("b", "<u4")])
        corners["x"][: len(order)], corners["n"][: len(order)] = places[order], normals[order]
        corners["c"][: len(order)], corners["b"][: len(order)] = colors[order], bodies[order]
        #: Of what is not opaque the middles of faces, which are sorted, and their bodies.
        self._seen_through = corners[self._num_opaque : len(order)]
        usage = wgpu.BufferUsage.VERTEX | wgpu.BufferUsage.COPY_DST
        self._corners = self._device.create_buffer_with_data(data=corners.tobytes(), usage=usage)
        self._scene_buffer = self._device.create_buffer(size=112, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
        count = max(1, len(self._scene.mechanism.links))
        self._poses = self._device.create_buffer(size=64 * count, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST)

    def _make_pipelines(self) -> None:
        import wgpu

        device = self._device
        vertex, fragment = wgpu.ShaderStage.VERTEX, wgpu.ShaderStage.FRAGMENT
        self._layout = device.create_bind_group_layout(
            entries=[
                {"binding": 0, "visibility": vertex | fragment, "buffer": {"type": "uniform"}},
                {"binding": 1, "visibility": vertex, "buffer": {"type": "read-only-storage"}},
                {"binding": 2, "visibility": fragment, "texture": {"sample_type": "float", "view_dimension": "2d"}},
            ]
        )
        layout = device.create_pipeline_layout(bind_group_layouts=[self._layout])
        shader = device.create_shader_module(code=_SHADER)
        corner = {
            "array_stride": 44,
            "step_mode": "vertex",
            "attributes": [
                {"format": "float32x3", "offset": 0, "shader_location": 0},
                {"format": "float32x3", "offset": 12, "shader_location": 1},
                {"format": "float32x4", "offset": 24, "shader_location": 2},
                {"format": "uint32", "offset": 40, "shader_location": 3},
            ],
        }
        flat = {
            "array_stride": 24,
            "step_mode": "vertex",
            "attributes": [
                {"format": "float32x2", "offset": 0, "shader_location": 0},
                {"format": "float32x4", "offset": 8, "shader_location": 1},
            ],
        }
        over = {"src_factor": "src-alpha", "dst_factor": "one-minus-src-alpha", "operation": "add"}
        kept = {"src_factor": "one", "dst_factor": "one-minus-src-alpha", "operation": "add"}

        def make(begin: str, end: str, buffers: list[Any], compare: str, write: bool) -> Any:
            return device.create_render_pipeline(
                layout=layout,
                vertex={"module": shader, "entry_point": begin, "buffers": buffers},
                fragment={
                    "module": shader,
                    "entry_point": end,
                    "targets": [{"format": "rgba8unorm", "blend": {"color": over, "alpha": kept}}],
                },
                primitive={"topology": "triangle-list", "front_face": "ccw", "cull_mode": "none"},
                depth_stencil={"format": "depth32float", "depth_write_enabled": write, "depth_compare": compare},
                multisample={"count": _SAMPLES},
            )

        self._image = make("screen", "image", [], "always", write=False)
        self._flat = make("flat_at", "flat_color", [flat], "always", write=False)
        self._shadow = make("shadow", "dark", [corner], "always", write=False)
        self._opaque = make("face", "lit", [corner], "less", write=True)
        self._glassy = make("face", "lit", [corner], "less", write=False)

    def _make_targets(self) -> None:
        import wgpu

        size = (self._width, self._height, 1)
        usage = wgpu.TextureUsage.RENDER_ATTACHMENT
        make = self._device.create_texture
        self._samples = make(size=size, sample_count=_SAMPLES, format="rgba8unorm", usage=usage).create_view()
        self._depth = make(size=size, sample_count=_SAMPLES, format="depth32float", usage=usage).create_view()
        self._picture = make(size=size, format="rgba8unorm", usage=usage | wgpu.TextureUsage.COPY_SRC)

    # ------------------------------------------------------------------------------------------ each view

    def _background(self) -> tuple[Any, Array]:
        """The image behind, bound for the shaders, and the projection (4, 4) to pixels, of the scene's view."""
        import wgpu

        view = self._scene.view
        key = np.concatenate([view.R_DG.ravel(), view.low, view.high, [view.azimuth]]).tobytes()
        if key in self._backgrounds:
            return self._backgrounds[key]
        if len(self._backgrounds) >= _KEPT:
            del self._backgrounds[next(iter(self._backgrounds))]
        with self._scene.without_moving():
            self._figure.canvas.draw()
            canvas: Any = self._figure.canvas
            pixels = np.ascontiguousarray(canvas.buffer_rgba())
        texture = self._device.create_texture(
            size=(self._width, self._height, 1),
            format="rgba8unorm",
            usage=wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_DST,
        )
        rows = {"bytes_per_row": 4 * self._width, "rows_per_image": self._height}
        self._device.queue.write_texture({"texture": texture}, pixels, rows, (self._width, self._height, 1))
        group = self._device.create_bind_group(
            layout=self._layout,
            entries=[
                {"binding": 0, "resource": {"buffer": self._scene_buffer}},
                {"binding": 1, "resource": {"buffer": self._poses}},
                {"binding": 2, "resource": texture.create_view()},
            ],
        )
        self._backgrounds[key] = group, self._scene.find_projection()
        return self._backgrounds[key]

    # ------------------------------------------------------------------------------------------ each picture

    def draw(
        self, X_GB: Array, particles: Array, trace: Array | None = None, arrows: Array | None = None, row: int = 0
    ) -> NDArray[np.uint8]:
        """The picture, (height, width, 3), of what `Scene.show` would show."""
        scene = self._scene
        R = scene.view.R_DG
        group, to_pixels = self._background()
        planes, floor, shadow = scene.place_planes(X_GB)
        self._write(to_pixels, X_GB, scene.view.low[2] if floor is None else floor, shadow)
        before, after = _Strokes(to_pixels, scene.dpi), _Strokes(to_pixels, scene.dpi)
        for corners, color in planes:
            if len(corners) > 2:
                before.add_polygon(corners, color)
        if trace is not None and len(trace) > 1:
            path = trace @ R.T
            before.add_lines(np.stack([path[:-1], path[1:]], axis=1), (*TRACE, 0.7), 1.0)
        lines = scene.mechanism.place_segments(X_GB) @ R.T
        after.add_lines(lines, scene.mechanism.segment_color, scene.mechanism.segment_width)
        for track, points in scene.place_tracks(X_GB, row):
            if track.are_lines:
                after.add_lines(points, track.color, 0.6 * track.width)
            else:
                after.add_dots(points, track.color, 3.0)
        after.add_dots(particles @ R.T, PARTICLE, 1.5)
        if arrows is not None and len(arrows):
            after.add_lines(scene.draw_arrows(arrows @ R.T), (*FORCE, 1.0), 1.8)
        first, second = before.pack(self._width, self._height), after.pack(self._width, self._height)
        pixels = self._run(group, first, second, len(before), len(after))
        texts = scene.mechanism.texts
        for (_, _, text, color), point in zip(texts, scene.mechanism.place_texts(X_GB) if texts else [], strict=True):
            x, y = (to_pixels @ (*(R @ point), 1.0))[:2]
            self.put_text(pixels, text, x, y, color=color, fontsize=8.0)
        return pixels

    def _write(self, to_pixels: Array, X_GB: Array, floor: float, shadow: tuple[float, ...]) -> None:
        """Give the shaders projection, light and poses."""
        view, scene = self._scene.view, self._scene
        # pixels, y up, to the card's box; depth by how far it is along the line of sight
        see = np.diag([2.0 / self._width, 2.0 / self._height, 0.0, 1.0]) @ to_pixels
        see[:2, 3] -= 1.0
        middle, reach = (view.low + view.high) / 2.0, _REACH * float(np.linalg.norm(view.high - view.low))
        see[2, :3] = -view.toward_camera / (2.0 * reach)
        see[2, 3] = 0.5 + float(view.toward_camera @ middle) / (2.0 * reach)
        numbers = [*see.T.ravel(), *scene.light, AMBIENT, *(shadow or SHADOW), floor, 0.0, 0.0, 0.0]
        queue = self._device.queue
        queue.write_buffer(self._scene_buffer, 0, np.array(numbers, "<f4").tobytes())
        poses = np.array(X_GB, np.float64)
        poses[:, :3] = view.R_DG @ poses[:, :3]
        queue.write_buffer(self._poses, 0, poses.transpose(0, 2, 1).astype("<f4").tobytes())
        if len(self._seen_through):
            corners = self._seen_through
            X = poses[corners["b"] // 2]
            depth = np.einsum("nij,nj->ni", X[:, :3, :3], corners["x"]) + X[:, :3, 3]
            nearness = (depth @ view.toward_camera).reshape(-1, 3).mean(axis=1)
            order = np.argsort(nearness)
            data = corners.reshape(-1, 3)[order]
            queue.write_buffer(self._corners, 44 * self._num_opaque, data.tobytes())

    def _run(self, group: Any, first: bytes, second: bytes, num_first: int, num_second: int) -> NDArray[np.uint8]:
        import wgpu

        device, encoder = self._device, self._device.create_command_encoder()
        turn = encoder.begin_render_pass(
            color_attachments=[
                {
                    "view": self._samples,
                    "resolve_target": self._picture.create_view(),
                    "clear_value": (1.0, 1.0, 1.0, 1.0),
                    "load_op": "clear",
                    "store_op": "discard",
                }
            ],
            depth_stencil_attachment={
                "view": self._depth,
                "depth_clear_value": 1.0,
                "depth_load_op": "clear",
                "depth_store_op": "discard",
            },
        )
        turn.set_bind_group(0, group)
        turn.set_pipeline(self._image)
        turn.draw(3)
        self._stroke(turn, first, num_first)
        if self._num_corners:
            turn.set_vertex_buffer(0, self._corners)
            if self._scene.has_floor:
                turn.set_pipeline(self._shadow)
                turn.draw(self._num_corners)
            turn.set_pipeline(self._opaque)
            turn.draw(self._num_opaque)
            if self._num_corners > self._num_opaque:
                turn.set_pipeline(self._glassy)
                turn.draw(self._num_corners - self._num_opaque, 1, self._num_opaque)
        self._stroke(turn, second, num_second)
        turn.end()
        row = -(-4 * self._width // 256) * 256  # what copies want
        buffer = device.create_buffer(size=row * self._height, usage=wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ)
        where = {"buffer": buffer, "bytes_per_row": row, "rows_per_image": self._height}
        encoder.copy_texture_to_buffer({"texture": self._picture}, where, (self._width, self._height, 1))
        device.queue.submit([encoder.finish()])
        buffer.map_sync(wgpu.MapMode.READ)
        data = np.frombuffer(buffer.read_mapped(copy=True), np.uint8)
        buffer.unmap()
        return data.reshape(self._height, row)[:, : 4 * self._width].reshape(self._height, self._width, 4)[..., :3].copy()

    def _stroke(self, turn: Any, data: bytes, count: int) -> None:
        import wgpu

        if count:
            buffer = self._device.create_buffer_with_data(data=data, usage=wgpu.BufferUsage.VERTEX)
            turn.set_pipeline(self._flat)
            turn.set_vertex_buffer(0, buffer)
            turn.draw(count)

    def put_text(self, pixels: NDArray[np.uint8], text: str, x: float, y: float, **font: Any) -> None:
        """Write a text into a picture, with its left end at x and on the line y, in pixels from the lower left corner."""
        key = text, tuple(sorted((name, str(value)) for name, value in font.items()))
        if key not in self._sprites:
            if len(self._sprites) > 1000:
                self._sprites.clear()
            self._sprites[key] = _draw_text(text, self._scene.dpi, font)
        image, left, below = self._sprites[key]
        height, width = image.shape[:2]
        x = min(x, self._width - width - left) if x - left < self._width else x  # it ends at the edge of the picture
        column, line = round(x) - left, self._height - round(y) - (height - below)
        begin, end = max(0, column), min(self._width, column + width)
        top, bottom = max(0, line), min(self._height, line + height)
        if begin < end and top < bottom:
            part = image[top - line : bottom - line, begin - column : end - column].astype(np.float32)
            alpha = part[..., 3:] / 255.0
            under = pixels[top:bottom, begin:end]
            pixels[top:bottom, begin:end] = np.round(part[..., :3] * alpha + (1.0 - alpha) * under).astype(np.uint8)


def find_card_scene(scene: Scene, renderer: str) -> tuple[CardScene | None, str]:
    """The card's drawing of a scene, or None if Matplotlib draws, and what does: ``"auto"`` takes a card where there is one.

    Raises
    ------
    NoCard
        If *renderer* is ``"card"`` and there is none.
    """
    if renderer == "matplotlib":
        return None, "Matplotlib"
    try:
        drawing = CardScene(scene)
    except NoCard as error:
        if renderer == "card":
            raise
        return None, f"Matplotlib, since {error}"
    return drawing, drawing.name


class _Strokes:
    """Flat triangles over each other, of lines, dots and polygons: in pixels, y up."""

    def __init__(self, to_pixels: Array, dpi: float) -> None:
        self._to_pixels, self._scale = to_pixels, dpi / 72.0
        self._parts: list[tuple[Array, Array]] = []

    def __len__(self) -> int:
        return sum(len(places) for places, _ in self._parts)

    def _place(self, points: Array) -> Array:
        """Points (..., 3) of the display's frame in pixels."""
        return np.asarray(points @ self._to_pixels[:2, :3].T + self._to_pixels[:2, 3])

    def _add(self, triangles: Array, colors: Array) -> None:
        """Triangles (n, 3, 2) and a colour of each."""
        there = np.isfinite(triangles).all(axis=(1, 2))
        self._parts.append((triangles[there].reshape(-1, 2), np.repeat(colors[there], 3, axis=0)))

    def add_polygon(self, corners: Array, color: tuple[float, ...]) -> None:
        """A convex one (n, 3)."""
        places = self._place(corners)
        fan = np.stack([np.broadcast_to(places[0], places[1:-1].shape), places[1:-1], places[2:]], axis=1)
        self._add(fan, _colors(color, len(fan)))

    def add_lines(self, lines: Array, color: Any, width: Any) -> None:
        """Lines (n, 2, 3), their width in points; their ends are round."""
        if not len(lines):
            return
        ends, half = self._place(lines), 0.5 * self._scale * np.broadcast_to(np.asarray(width, np.float64), len(lines))
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1, keepdims=True)
        along = np.where(length > 1e-9, along / np.maximum(length, 1e-9), (1.0, 0.0))
        side = np.stack([-along[:, 1], along[:, 0]], axis=1) * half[:, None]
        a, b, c, d = ends[:, 0] - side, ends[:, 1] - side, ends[:, 1] + side, ends[:, 0] + side
        colors = _colors(color, len(lines))
        self._add(np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]), np.concatenate([colors, colors]))
        if (colors[:, 3] >= 1.0).all():  # what is seen through would be darker at its ends
            for end in (0, 1):
                self._add_disks(ends[:, end], colors, half)

    def add_dots(self, points: Array, color: Any, width: float) -> None:
        """Dots at points (n, 3), their diameter in points."""
        if len(points):
            half = np.full(len(points), 0.5 * self._scale * width)
            self._add_disks(self._place(points), _colors(color, len(points)), half)

    def _add_disks(self, middles: Array, colors: Array, radius: Array) -> None:
        angle = 2.0 * np.pi / _ROUND * np.arange(_ROUND + 1)
        rim = middles[:, None] + radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        fans = np.stack([np.broadcast_to(middles[:, None], rim[:, 1:].shape), rim[:, :-1], rim[:, 1:]], axis=2)
        self._add(fans.reshape(-1, 3, 2), np.repeat(colors, _ROUND, axis=0))

    def pack(self, width: int, height: int) -> bytes:
        """The bytes of all corners, places in the card's box."""
        if not self._parts:
            return b""
        places, colors = (np.concatenate([part[k] for part in self._parts]) for k in (0, 1))
        return np.concatenate([2.0 * places / (width, height) - 1.0, colors], axis=1).astype("<f4").tobytes()


def _colors(color: Any, count: int) -> Array:
    """One colour, or one each, with opacity, as (n, 4)."""
    from matplotlib.colors import to_rgba_array

    colors = to_rgba_array(color)
    return np.broadcast_to(colors, (count, 4)) if len(colors) == 1 else colors


def _draw_text(text: str, dpi: float, font: dict[str, Any]) -> tuple[NDArray[np.uint8], int, int]:
    """A text as an image with opacity, and where in it its left end and its line are, from the lower left corner."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = float(font.get("fontsize", 10.0)) / 72.0
    figure = Figure(figsize=(size * (len(text) + 2), 4.0 * size), dpi=dpi, facecolor="none")
    canvas: Any = FigureCanvasAgg(figure)
    figure.text(size / figure.get_figwidth(), 0.5, text, parse_math=False, **font)
    canvas.draw()
    image = np.array(canvas.buffer_rgba())
    return image, round(size * dpi), round(2.0 * size * dpi)
