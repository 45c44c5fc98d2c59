"use strict";
// A motion of rigid bodies, played. Vectors are arrays; matrices are 16 numbers, column by column, as WebGL takes them.
// Frames are named as in mobod: G ground, B a body, D the display's frame, whose z axis is up; X_DB places B in D.

const byId = (name) => document.getElementById(name);

// ---------------------------------------------------------------------------------------------------- the data

async function unpack() {
  const about = JSON.parse(byId("about").textContent);
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is older than 2023; use a newer one");
  const packed = Uint8Array.from(atob(byId("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const kinds = { Float32Array, Uint32Array, Int16Array, Int8Array };
  const arrays = {};
  for (const [name, [kind, offset, length]] of Object.entries(about.arrays)) {
    arrays[name] = new kinds[kind](buffer, offset, length);
  }
  return [about, arrays];
}

// ---------------------------------------------------------------------------------------------------- vectors and matrices

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const scaled = (s, a) => [s * a[0], s * a[1], s * a[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => scaled(1 / (Math.hypot(...a) || 1), a);

function times(A, B) {
  const C = new Float32Array(16);
  for (let j = 0; j < 4; j++) {
    for (let i = 0; i < 4; i++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += A[i + 4 * k] * B[k + 4 * j];
      C[i + 4 * j] = sum;
    }
  }
  return C;
}

// A point, or with w = 0 a direction, measured in the frame that X is given in.
const moved = (X, p, w = 1) => [0, 1, 2].map((i) => X[i] * p[0] + X[4 + i] * p[1] + X[8 + i] * p[2] + w * X[12 + i]);

function pose(q, p) {
  const [w, x, y, z] = q;
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const depth = near - far;
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / depth, -1, 0, 0, (2 * far * near) / depth, 0]);
}

function lookingFrom(eye, target) {
  const z = unit(minus(eye, target));
  const x = unit(cross([0, 0, 1], z));
  const y = cross(z, x);
  return new Float32Array([
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ]);
}

// ---------------------------------------------------------------------------------------------------- the motion

class Motion {
  constructor(about, arrays) {
    Object.assign(this, { about, arrays });
    this.count = about.count;
    this.duration = about.end - about.start;
    const R = about.R_DG; // row by row
    this.X_DG = new Float32Array([R[0], R[3], R[6], 0, R[1], R[4], R[7], 0, R[2], R[5], R[8], 0, 0, 0, 0, 1]);
  }

  // The rows before and after a time, and the weight of the one after.
  rowsAt(time) {
    const place = this.duration > 0 ? ((time - this.about.start) / this.duration) * (this.count - 1) : 0;
    const before = Math.min(Math.max(Math.floor(place), 0), Math.max(this.count - 2, 0));
    return [before, Math.min(before + 1, this.count - 1), Math.min(Math.max(place - before, 0), 1)];
  }

  posesAt(time) {
    const [i, j, part] = this.rowsAt(time);
    const { positions, rotations } = this.arrays;
    const bodies = this.about.bodies.length;
    const poses = [];
    for (let b = 0; b < bodies; b++) {
      const m = i * bodies + b, n = j * bodies + b;
      const p = [0, 1, 2].map((k) => (1 - part) * positions[3 * m + k] + part * positions[3 * n + k]);
      let near = 0;
      for (let k = 0; k < 4; k++) near += rotations[4 * m + k] * rotations[4 * n + k];
      const sign = near < 0 ? -1 : 1; // a rotation has two quaternions
      const q = [0, 1, 2, 3].map((k) => (1 - part) * rotations[4 * m + k] + sign * part * rotations[4 * n + k]);
      const length = Math.hypot(...q) || 1;
      poses.push(times(this.X_DG, pose(q.map((value) => value / length), p)));
    }
    return poses;
  }

  particlesAt(time) {
    const n = this.about.particles;
    if (!n) return null;
    const [i, j, part] = this.rowsAt(time);
    const from = this.arrays.particles;
    const points = new Float32Array(3 * n);
    for (let k = 0; k < 3 * n; k++) points[k] = (1 - part) * from[3 * n * i + k] + part * from[3 * n * j + k];
    return points;
  }

  // Markers, muscles, springs: points of bodies, in D; those that are missing now are NaN.
  tracksAt(time, poses) {
    const [i, j, part] = this.rowsAt(time);
    let first = 0;
    return (this.about.tracks || []).map((track) => {
      const n = track.rows, from = this.arrays.tracks;
      const points = track.bodies.map((body, k) => {
        const p = [0, 1, 2].map((axis) => {
          const start = first + (3 * k + axis) * n;
          if (n === 1) return from[start];
          const between = (1 - part) * from[start + i] + part * from[start + j];
          return Number.isNaN(between) ? from[start + (part < 0.5 ? i : j)] : between;
        });
        return moved(poses[body], p);
      });
      first += 3 * n * track.bodies.length;
      return { ...track, points };
    });
  }

  // Contact forces, as pairs of points: those of the nearest row, since their number changes.
  arrowsAt(time) {
    const { arrow_counts: counts, arrows } = this.arrays;
    if (!counts) return [];
    const [i, j, part] = this.rowsAt(time);
    const row = part < 0.5 ? i : j;
    if (!this.starts) {
      this.starts = [0];
      for (const count of counts) this.starts.push(this.starts.at(-1) + count);
    }
    const found = [];
    for (let k = this.starts[row]; k < this.starts[row + 1]; k++) {
      const ends = [arrows.subarray(6 * k, 6 * k + 3), arrows.subarray(6 * k + 3, 6 * k + 6)];
      found.push(ends.map((end) => moved(this.X_DG, end)));
    }
    return found;
  }
}

// ---------------------------------------------------------------------------------------------------- drawing

const BODIES = [
  `#version 300 es
  in vec3 p_B; in vec3 n_B;
  uniform mat4 X_DB, P; uniform vec4 shadow; // light's direction; height of the floor, above any if none
  out vec3 n_D, p_D;
  void main() {
    vec4 p = X_DB * vec4(p_B, 1.0);
    n_D = mat3(X_DB) * n_B;
    if (shadow.w < 1e30) p.xyz -= shadow.xyz * max(p.z - shadow.w, 0.0) / shadow.z;
    if (shadow.w < 1e30) p.z = shadow.w;
    p_D = p.xyz;
    gl_Position = P * p;
  }`,
  `#version 300 es
  precision highp float;
  in vec3 n_D, p_D;
  uniform vec4 color; uniform vec3 light, eye; uniform int plain;
  out vec4 seen;
  void main() {
    if (plain == 1) { seen = color; return; }
    vec3 n = normalize(n_D), v = normalize(eye - p_D);
    if (dot(n, v) < 0.0) n = -n;
    float shade = 0.58 + 0.08 * n.z + 0.36 * max(dot(n, light), 0.0);
    float shine = 0.10 * pow(max(dot(n, normalize(light + v)), 0.0), 40.0);
    seen = vec4(color.rgb * shade + shine, color.a);
  }`,
];

// Lines are ribbons that face the camera, as wide in dots as told; widths may differ at their ends, as those of heads of arrows.
const LINES = [
  `#version 300 es
  in vec3 p, other; in vec4 color; in vec2 side; // which side, half the width in dots
  uniform mat4 P; uniform vec2 size;
  out vec4 paint;
  void main() {
    vec4 a = P * vec4(p, 1.0), b = P * vec4(other, 1.0);
    vec2 along = (b.xy / b.w - a.xy / a.w) * size;
    along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
    a.xy += side.x * side.y * 2.0 * vec2(-along.y, along.x) / size * a.w;
    a.z -= 2e-4 * a.w;
    paint = color;
    gl_Position = a;
  }`,
  `#version 300 es
  precision highp float; in vec4 paint; out vec4 seen; void main() { seen = paint; }`,
];

const DOTS = [
  `#version 300 es
  in vec3 p_G; uniform mat4 X_DB, P; uniform float dot;
  void main() { gl_Position = P * (X_DB * vec4(p_G, 1.0)); gl_PointSize = dot; }`,
  `#version 300 es
  precision highp float; uniform vec4 color; out vec4 seen;
  void main() { if (length(gl_PointCoord - 0.5) > 0.5) discard; seen = color; }`,
];

const FLOOR = [
  `#version 300 es
  in vec2 corner; uniform mat4 P; uniform vec4 place; // middle, height, half the side
  out vec2 p;
  void main() { p = place.xy + place.w * corner; gl_Position = P * vec4(p, place.z, 1.0); }`,
  `#version 300 es
  precision highp float;
  in vec2 p; uniform vec4 color, place; uniform float cell; out vec4 seen;
  void main() {
    vec2 a = abs(fract(p / cell - 0.5) - 0.5) / fwidth(p / cell);
    float line = 1.0 - min(min(a.x, a.y), 1.0);
    float far = length(p - place.xy) / place.w;
    float a0 = max(color.a, line);
    seen = vec4(mix(color.rgb, 0.8 * color.rgb, line), a0 * (1.0 - smoothstep(0.35, 1.0, far)));
  }`,
];

const LIGHT = [1, 1, 1, 1], DARK = [0.1, 0.11, 0.12, 1];
const ONE = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
const FORCE = [0.9, 0.35, 0, 1], PATH = [0.8, 0.15, 0.25, 0.9], PARTICLE = [0.15, 0.35, 0.6, 1];
const AXES = [[0.8, 0.2, 0.2, 1], [0.2, 0.6, 0.2, 1], [0.2, 0.3, 0.8, 1]];
const PICKED = [1, 0.75, 0.1];

class Drawing {
  constructor(canvas, motion) {
    Object.assign(this, { canvas, motion, picked: -1 });
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2 here. Turn graphics acceleration on in its settings, or use another browser.");
    this.gl = gl;
    const angle = (motion.about.azimuth * Math.PI) / 180 - 0.6; // from above the first view, to its left
    this.light = unit([0.8 * Math.cos(angle), 0.8 * Math.sin(angle), 1.0]);
    this.programs = Object.fromEntries(
      Object.entries({ BODIES, LINES, DOTS, FLOOR }).map(([name, source]) => [name, this.compile(...source)]),
    );
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    this.load();
  }

  compile(...sources) {
    const { gl } = this;
    const program = gl.createProgram();
    sources.forEach((source, k) => {
      const shader = gl.createShader(k ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const places = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const { name } = gl.getActiveUniform(program, k);
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places, at: (name) => gl.getAttribLocation(program, name) };
  }

  attribute(program, name, size, type, normalized, stride, offset) {
    const place = program.at(name);
    this.gl.enableVertexAttribArray(place);
    this.gl.vertexAttribPointer(place, size, type, normalized, stride, offset);
  }

  buffer(data, target = this.gl.ARRAY_BUFFER) {
    const made = this.gl.createBuffer();
    this.gl.bindBuffer(target, made);
    if (data) this.gl.bufferData(target, data, this.gl.STATIC_DRAW);
    return made;
  }

  load() {
    const { gl, motion, programs } = this;
    const { vertices, normals, triangles } = motion.arrays;
    let v = 0, t = 0;
    const made = [];
    motion.about.surfaces.forEach((surface) => {
      if (surface.like !== undefined) { // the same shape as another one, on another body
        made.push({ ...made[surface.like], ...surface });
        return;
      }
      const array = gl.createVertexArray();
      gl.bindVertexArray(array);
      this.buffer(vertices.subarray(3 * v, 3 * (v + surface.vertices)));
      this.attribute(programs.BODIES, "p_B", 3, gl.FLOAT, false, 0, 0);
      this.buffer(normals.subarray(4 * v, 4 * (v + surface.vertices)));
      this.attribute(programs.BODIES, "n_B", 3, gl.BYTE, true, 4, 0);
      this.buffer(triangles.subarray(3 * t, 3 * (t + surface.triangles)), gl.ELEMENT_ARRAY_BUFFER);
      v += surface.vertices;
      t += surface.triangles;
      made.push({ ...surface, array });
    });
    this.surfaces = made;
    for (const plane of motion.about.planes) this.surfaces.push(this.square(plane));
    this.surfaces.sort((a, b) => b.color[3] - a.color[3]); // what is translucent comes last

    this.lines = gl.createVertexArray();
    gl.bindVertexArray(this.lines);
    this.lineBuffer = this.buffer(null);
    const stride = 48;
    [["p", 3, 0], ["other", 3, 12], ["color", 4, 24], ["side", 2, 40]].forEach(([name, size, offset]) =>
      this.attribute(programs.LINES, name, size, gl.FLOAT, false, stride, offset),
    );
    this.dots = gl.createVertexArray();
    gl.bindVertexArray(this.dots);
    this.dotBuffer = this.buffer(null);
    this.attribute(programs.DOTS, "p_G", 3, gl.FLOAT, false, 0, 0);
    this.floor = gl.createVertexArray();
    gl.bindVertexArray(this.floor);
    this.buffer(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    this.attribute(programs.FLOOR, "corner", 2, gl.FLOAT, false, 0, 0);
    gl.bindVertexArray(null);
  }

  square({ body, point, normal, color }) {
    const { gl, motion, programs } = this;
    const n = unit(normal), x = unit(cross(Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0], n)), y = cross(n, x);
    const half = Math.max(...motion.about.extent);
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => add(point, add(scaled(a * half, x), scaled(b * half, y))));
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(new Float32Array(corners.flat()));
    this.attribute(programs.BODIES, "p_B", 3, gl.FLOAT, false, 0, 0);
    this.buffer(new Float32Array([n, n, n, n].flat()));
    this.attribute(programs.BODIES, "n_B", 3, gl.FLOAT, false, 0, 0);
    this.buffer(new Uint32Array([0, 1, 2, 0, 2, 3]), gl.ELEMENT_ARRAY_BUFFER);
    return { body, color, triangles: 2, array, casts: false };
  }

  fit() {
    const { canvas, gl } = this;
    const dots = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * dots)), height = Math.max(1, Math.round(canvas.clientHeight * dots));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    return [width, height, dots];
  }

  use(name, uniforms) {
    const { gl } = this;
    const { program, places } = this.programs[name];
    gl.useProgram(program);
    for (const [key, value] of Object.entries(uniforms)) {
      const place = places[key];
      if (typeof value === "number") key === "plain" ? gl.uniform1i(place, value) : gl.uniform1f(place, value);
      else gl[value.length === 16 ? "uniformMatrix4fv" : `uniform${value.length}fv`](place, ...(value.length === 16 ? [false, value] : [value]));
    }
    return places;
  }

  draw(camera, poses, lines, particles, showFloor) {
    const { gl, motion } = this;
    const [width, height, dots] = this.fit();
    const P = (this.P = camera.projection(width / height));
    gl.clearColor(...(this.isDark ? DARK : LIGHT));
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (showFloor) this.drawFloor(P, camera, poses);
    this.drawBodies(P, camera, poses);
    this.drawLines(P, lines.among, width, height, dots);
    gl.disable(gl.DEPTH_TEST);
    this.drawLines(P, lines.above, width, height, dots);
    gl.enable(gl.DEPTH_TEST);
    for (const { points, color } of lines.balls) this.drawDots(P, ONE, new Float32Array(points.flat()), color, 8 * dots);
    if (particles) this.drawDots(P, motion.X_DG, particles, PARTICLE, 5 * dots);
    gl.bindVertexArray(null);
  }

  drawFloor(P, camera, poses) {
    const { gl, motion } = this;
    const { floor, extent } = motion.about;
    const half = 3 * Math.max(...extent);
    const power = 10 ** Math.floor(Math.log10(half / 6));
    const cell = [1, 2, 5].map((k) => k * power).findLast((k) => k <= half / 6) || power;
    const color = floor.color ? [...floor.color, floor.opacity] : this.isDark ? [0.2, 0.21, 0.23, 1] : [0.93, 0.93, 0.94, 1];
    gl.enable(gl.BLEND);
    gl.depthMask(false); // what goes below the floor is seen through it
    gl.bindVertexArray(this.floor);
    this.use("FLOOR", { P, color, cell, place: [camera.target[0], camera.target[1], floor.height, half] });
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    if (camera.eye()[2] > floor.height) {
      const dark = color.slice(0, 3).map((c) => 0.78 * c);
      const shadow = { P, eye: [0, 0, 0], light: this.light, plain: 1, shadow: [...this.light, floor.height], color: [...dark, 1] };
      const places = this.use("BODIES", shadow);
      for (const surface of this.surfaces) {
        if (surface.body % motion.about.own === 0 || surface.casts === false || surface.color[3] < 0.5) continue;
        gl.uniformMatrix4fv(places.X_DB, false, poses[surface.body]);
        gl.bindVertexArray(surface.array);
        gl.drawElements(gl.TRIANGLES, 3 * surface.triangles, gl.UNSIGNED_INT, 0);
      }
    }
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawBodies(P, camera, poses, asNumbers = false) {
    const { gl } = this;
    const places = this.use("BODIES", { P, eye: camera.eye(), light: this.light, plain: asNumbers ? 1 : 0, shadow: [0, 0, 1, 1e38] });
    gl.enable(gl.POLYGON_OFFSET_FILL); // of two faces in one place the same one is seen from everywhere
    for (const [k, surface] of this.surfaces.entries()) {
      gl.polygonOffset(0, (k % 16) * 4);
      const through = surface.color[3] < 1 && !asNumbers;
      if (through) gl.enable(gl.BLEND), gl.depthMask(false);
      const chosen = surface.body === this.picked && !through;
      const color = chosen ? [...surface.color.slice(0, 3).map((c, k) => 0.55 * c + 0.45 * PICKED[k]), 1] : surface.color;
      const id = surface.body + 1;
      gl.uniform4fv(places.color, asNumbers ? [(id & 255) / 255, ((id >> 8) & 255) / 255, 0, 1] : color);
      gl.uniformMatrix4fv(places.X_DB, false, poses[surface.body]);
      gl.bindVertexArray(surface.array);
      gl.drawElements(gl.TRIANGLES, 3 * surface.triangles, gl.UNSIGNED_INT, 0);
      if (through) gl.disable(gl.BLEND), gl.depthMask(true);
    }
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  // Lines are [start, end, color, width at the start, width at the end], in D.
  drawLines(P, lines, width, height, dots) {
    if (!lines.length) return;
    const { gl } = this;
    const data = new Float32Array(72 * lines.length);
    let k = 0;
    for (const [a, b, color, first, last] of lines) {
      const corners = [[a, b, -1, first], [a, b, 1, first], [b, a, 1, last], [b, a, 1, last], [a, b, 1, first], [b, a, -1, last]];
      for (const [p, other, side, wide] of corners) {
        data.set([...p, ...other, ...color, side, 0.5 * wide * dots], k);
        k += 12;
      }
    }
    this.use("LINES", { P, size: [width, height] });
    gl.bindVertexArray(this.lines);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    gl.enable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLES, 0, 6 * lines.length);
    gl.disable(gl.BLEND);
  }

  // Points, measured in the frame that X is given in; those that are not numbers are not there.
  drawDots(P, X_DB, points, color, dot) {
    const { gl } = this;
    const there = points.some(Number.isNaN) ? points.filter((_, k) => !points.subarray(k - (k % 3), k - (k % 3) + 3).some(Number.isNaN)) : points;
    this.use("DOTS", { P, X_DB, color, dot });
    gl.bindVertexArray(this.dots);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.dotBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, there, gl.DYNAMIC_DRAW);
    gl.drawArrays(gl.POINTS, 0, there.length / 3);
  }

  // Which body is at a place on the canvas; -1 where there is none.
  pick(x, y, camera, poses) {
    const { gl } = this;
    const [width, height, dots] = this.fit();
    gl.clearColor(0, 0, 0, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawBodies(camera.projection(width / height), camera, poses, true);
    const found = new Uint8Array(4);
    gl.readPixels(Math.round(x * dots), height - Math.round(y * dots) - 1, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    return found[0] + 256 * found[1] - 1;
  }
}

// ---------------------------------------------------------------------------------------------------- the camera

class Camera {
  constructor(about) {
    this.about = about;
    this.reset();
  }

  reset() {
    const { azimuth, elevation, middle, extent } = this.about;
    this.azimuth = (azimuth * Math.PI) / 180;
    this.elevation = (elevation * Math.PI) / 180;
    this.target = [...middle];
    this.angle = 0.6;
    // so far that all corners of the box are within the picture, seen under its whole angle upward and sideways
    const z = this.toward(), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
    this.distance = 0;
    for (let k = 0; k < 8; k++) {
      const p = extent.map((length, i) => ((k >> i) & 1 ? 0.5 : -0.5) * length);
      const across = Math.max(Math.abs(dot(p, x)), Math.abs(dot(p, y)));
      this.distance = Math.max(this.distance, dot(p, z) + (1.08 * across) / Math.tan(this.angle / 2));
    }
  }

  toward() {
    const flat = Math.cos(this.elevation);
    return [flat * Math.cos(this.azimuth), flat * Math.sin(this.azimuth), Math.sin(this.elevation)];
  }

  eye() {
    return add(this.target, scaled(this.distance, this.toward()));
  }

  projection(aspect) {
    const whole = Math.hypot(...this.about.extent);
    const P = perspective(aspect < 1 ? 2 * Math.atan(Math.tan(this.angle / 2) / aspect) : this.angle, aspect, 0.01 * this.distance, this.distance + 20 * whole);
    return times(P, lookingFrom(this.eye(), this.target));
  }

  turn(dx, dy) {
    this.azimuth -= 0.008 * dx;
    this.elevation = Math.min(Math.max(this.elevation + 0.008 * dy, -1.55), 1.55);
  }

  shift(dx, dy, height) {
    const z = this.toward(), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
    const step = (2 * this.distance * Math.tan(this.angle / 2)) / height;
    this.target = add(this.target, add(scaled(-dx * step, x), scaled(dy * step, y)));
  }

  zoom(amount) {
    const whole = Math.hypot(...this.about.extent);
    this.distance = Math.min(Math.max(this.distance * Math.exp(amount), 0.02 * whole), 50 * whole);
  }
}

// ---------------------------------------------------------------------------------------------------- the page

class Player {
  constructor(about, arrays) {
    this.about = about;
    this.motion = new Motion(about, arrays);
    this.camera = new Camera(about);
    this.drawing = new Drawing(byId("scene"), this.motion);
    this.time = about.start;
    this.playing = false;
    this.stale = true;
    this.segments = this.readSegments();
    this.trace = this.readTrace();
    this.setUpControls();
    this.setUpMouse();
    this.setUpLabels();
    this.seek(about.start);
    if (about.followed > 0) {
      byId("follow").value = about.followed;
      this.followed = this.placeOf(about.followed, this.motion.posesAt(about.start));
    }
    const count = new URLSearchParams(location.search);
    if (this.motion.count > 1 && count.get("play") !== "0") this.play(true);
    this.clock = performance.now();
    const step = (now) => {
      this.advance(now);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  readSegments() {
    const points = this.motion.arrays.segments;
    return this.about.segments.map((one, k) => {
      const ends = [points.subarray(6 * k, 6 * k + 3), points.subarray(6 * k + 3, 6 * k + 6)];
      return { ...one, ends };
    });
  }

  readTrace() {
    const { trace } = this.motion.arrays;
    const points = [];
    for (let k = 0; k < trace.length; k += 3) points.push(moved(this.motion.X_DG, trace.subarray(k, k + 3)));
    return points;
  }

  setUpControls() {
    const { about } = this;
    document.body.classList.toggle("still", this.motion.count < 2);
    for (const value of [0.05, 0.1, 0.25, 0.5, 1, 2, 4]) byId("speed").add(new Option(`${value} x`, value, value === 1, value === 1));
    about.own = about.own || about.bodies.length; // those of the first motion; there may be others
    about.bodies.slice(0, about.own).forEach((name, b) => b && byId("follow").add(new Option(name, b)));
    this.shown = {};
    for (const name of new Set((about.tracks || []).map((one) => one.name))) this.addBox(name);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.drawing.isDark = dark.matches;
    dark.onchange = () => Object.assign(this.drawing, { isDark: dark.matches }) && (this.stale = true);
    (about.curves || []).forEach((name, k) => byId("curve").add(new Option(name, k)));
    if (about.curve !== undefined) {
      byId("curve").value = about.curve;
      byId("graph").hidden = false;
    }
    Object.assign(byId("time"), { min: about.start, max: about.end });
    for (const one of about.events || []) this.addMark(one);
    byId("forces-label").hidden = !this.motion.arrays.arrows;
    byId("play").onclick = () => this.play(!this.playing);
    byId("back").onclick = () => this.step(-1);
    byId("next").onclick = () => this.step(1);
    byId("time").oninput = (event) => {
      this.play(false);
      this.seek(Number(event.target.value));
    };
    byId("view").onclick = () => this.resetView();
    byId("follow").onchange = () => this.stay();
    byId("curve").onchange = () => {
      byId("graph").hidden = byId("curve").value < 0;
      this.stale = true;
    };
    for (const name of ["names", "frames", "centers", "path", "forces", "floor"]) byId(name).onchange = () => (this.stale = true);
    new ResizeObserver(() => (this.stale = true)).observe(byId("stage"));
    document.addEventListener("keydown", (event) => {
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const moved = (action) => () => {
        action();
        this.stale = true;
      };
      const actions = {
        " ": () => this.play(!this.playing), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
        Home: () => this.seek(about.start), End: () => this.seek(about.end), 0: () => this.resetView(),
        a: moved(() => this.camera.turn(-12, 0)), d: moved(() => this.camera.turn(12, 0)),
        w: moved(() => this.camera.turn(0, 12)), s: moved(() => this.camera.turn(0, -12)),
        "+": moved(() => this.camera.zoom(-0.1)), "-": moved(() => this.camera.zoom(0.1)),
      };
      if (plain && actions[event.key] && !["SELECT", "INPUT", "BUTTON"].includes(event.target.tagName)) {
        event.preventDefault();
        actions[event.key]();
      }
    });
    byId("graph").onpointerdown = (event) => {
      const box = byId("graph").getBoundingClientRect();
      this.play(false);
      this.seek(about.start + ((event.clientX - box.left - 8) / (box.width - 16)) * this.motion.duration);
    };
  }

  // A mark of events on the time line: its tip says what happened, a click goes there.
  addMark([time, text]) {
    const mark = document.createElement("button"), { start, end } = this.about;
    Object.assign(mark, { className: "mark", title: text });
    mark.setAttribute("aria-label", text);
    mark.style.left = `${(100 * (time - start)) / (end - start || 1)}%`;
    mark.onclick = () => {
      this.play(false);
      this.seek(time);
      byId("said").textContent = text;
    };
    byId("marks").append(mark);
  }

  // A box that shows or hides all tracks of a name.
  addBox(name) {
    const label = document.createElement("label"), box = document.createElement("input");
    Object.assign(box, { type: "checkbox", checked: true });
    this.shown[name] = box;
    label.append(box, ` ${name}`);
    byId("forces-label").before(label);
    box.onchange = () => (this.stale = true);
  }

  setUpMouse() {
    const canvas = byId("scene");
    const held = new Map();
    let far = 0, apart = 0;
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      canvas.classList.add("turning");
      held.set(event.pointerId, [event.clientX, event.clientY]);
      far = apart = 0;
    };
    canvas.onpointermove = (event) => {
      const last = held.get(event.pointerId);
      if (!last) return;
      const dx = event.clientX - last[0], dy = event.clientY - last[1];
      far += Math.hypot(dx, dy);
      held.set(event.pointerId, [event.clientX, event.clientY]);
      if (held.size === 2) {
        const [a, b] = [...held.values()];
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (apart) this.camera.zoom(Math.log(apart / distance));
        apart = distance;
        this.camera.shift(dx / 2, dy / 2, canvas.clientHeight);
      } else if (event.buttons & 6 || event.shiftKey) this.camera.shift(dx, dy, canvas.clientHeight);
      else this.camera.turn(dx, dy);
      this.stale = true;
    };
    canvas.onpointerup = canvas.onpointercancel = (event) => {
      held.delete(event.pointerId);
      canvas.classList.remove("turning");
      if (far < 4 && event.type === "pointerup") this.pick(event);
    };
    canvas.oncontextmenu = (event) => event.preventDefault();
    // within another page the wheel scrolls that page, until somebody has taken hold of the mechanism
    const isAlone = window.self === window.top;
    let isHeld = isAlone;
    canvas.addEventListener("pointerdown", () => (isHeld = true));
    document.documentElement.addEventListener("pointerleave", () => (isHeld = isAlone));
    canvas.addEventListener("wheel", (event) => {
      if (!isHeld) return;
      event.preventDefault();
      this.camera.zoom(0.0012 * event.deltaY * (event.deltaMode ? 20 : 1));
      this.stale = true;
    }, { passive: false });
  }

  setUpLabels() {
    const make = (text, color) => {
      const span = document.createElement("span");
      span.textContent = text;
      if (color) span.style.color = `rgba(${color.slice(0, 3).map((c) => Math.round(255 * c))}, ${color[3]})`;
      byId("labels").append(span);
      return span;
    };
    this.labels = this.about.labels.map((one) => ({ ...one, span: make(one.text, one.color), isName: false }));
    this.about.bodies.forEach((name, body) => {
      if (body && body < this.about.own) this.labels.push({ body, station: this.about.mass_centers[body], span: make(name), isName: true });
    });
  }

  pick(event) {
    const box = byId("scene").getBoundingClientRect();
    const body = this.drawing.pick(event.clientX - box.left, event.clientY - box.top, this.camera, this.poses);
    this.drawing.picked = body > 0 ? body : -1;
    const { bodies, masses } = this.about;
    byId("said").textContent = body > 0 ? `${bodies[body]}\nmass ${Number(masses[body].toPrecision(4))}` : "";
    this.stale = true;
  }

  play(on) {
    if (on && this.time >= this.about.end) this.seek(this.about.start);
    this.playing = on && this.motion.count > 1;
    byId("play").innerHTML = this.playing ? "&#10074;&#10074;" : "&#9654;";
    this.clock = performance.now();
  }

  step(direction) {
    this.play(false);
    this.seek(this.time + (direction * this.motion.duration) / Math.max(this.motion.count - 1, 1));
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.about.start), this.about.end);
    byId("time").value = this.time;
    byId("clock").textContent = `t = ${this.time.toFixed(2)} of ${this.about.end.toFixed(2)}`;
    this.stale = true;
  }

  advance(now) {
    const passed = Math.min((now - this.clock) / 1000, 0.1) * Number(byId("speed").value);
    this.clock = now;
    if (this.playing) {
      let time = this.time + passed;
      if (time > this.about.end) {
        if (byId("loop").checked) time = this.about.start + ((time - this.about.start) % this.motion.duration);
        else this.play(false);
      }
      this.seek(time);
    }
    if (this.stale) this.show();
  }

  // Keep the camera where it is to what it follows from now on.
  stay() {
    const body = Number(byId("follow").value);
    this.followed = body < 0 ? null : this.placeOf(body, this.poses);
  }

  placeOf(body, poses) {
    return moved(poses[body], this.about.mass_centers[body]);
  }

  resetView() {
    this.camera.reset();
    if (this.followed) this.camera.target = [...this.followed];
    this.stale = true;
  }

  show() {
    this.stale = false;
    this.poses = this.motion.posesAt(this.time);
    const body = Number(byId("follow").value);
    if (body >= 0 && this.followed) {
      const place = this.placeOf(body, this.poses);
      this.camera.target = add(this.camera.target, minus(place, this.followed));
      this.followed = place;
    }
    const particles = this.motion.particlesAt(this.time);
    this.drawing.draw(this.camera, this.poses, this.collectLines(), particles, byId("floor").checked);
    this.placeLabels();
    if (!byId("graph").hidden) this.drawGraph(Number(byId("curve").value));
    window.mobod = { time: this.time, poses: this.poses, camera: this.camera, player: this };
  }

  // Those that bodies may hide, and those that are drawn above all.
  collectLines() {
    const { poses } = this;
    const above = [];
    const lines = this.segments.map(({ bodies, ends, color, width }) => {
      const wide = 1.33 * width;
      return [moved(poses[bodies[0]], ends[0]), moved(poses[bodies[1]], ends[1]), color, wide, wide];
    });
    if (byId("frames").checked) {
      const size = 0.08 * this.about.size;
      for (const X of poses.slice(0, this.about.own)) {
        const origin = moved(X, [0, 0, 0]);
        AXES.forEach((color, k) => above.push([origin, add(origin, scaled(size, [X[4 * k], X[4 * k + 1], X[4 * k + 2]])), color, 2, 2]));
      }
    }
    if (byId("centers").checked) {
      this.about.masses.slice(0, this.about.own).forEach((mass, b) => {
        if (!(mass > 0)) return;
        const p = this.placeOf(b, poses);
        for (let k = 0; k < 3; k++) {
          const along = [0, 1, 2].map((i) => (i === k ? 0.015 * this.about.size : 0));
          above.push([minus(p, along), add(p, along), [0.1, 0.1, 0.1, 1], 2, 2]);
        }
      });
    }
    if (byId("path").checked) {
      const last = this.motion.rowsAt(this.time)[0];
      for (let k = 0; k < last; k++) lines.push([this.trace[k], this.trace[k + 1], PATH, 1.5, 1.5]);
    }
    if (byId("forces").checked) {
      for (const [tail, head] of this.motion.arrowsAt(this.time)) {
        const neck = add(tail, scaled(0.75, minus(head, tail)));
        above.push([tail, neck, FORCE, 2.5, 2.5], [neck, head, FORCE, 11, 0]); // they begin where bodies touch, and go into one
      }
    }
    const balls = [];
    for (const track of this.motion.tracksAt(this.time, poses)) {
      if (!this.shown[track.name].checked) continue;
      const { points, color, width } = track;
      if (!track.lines) {
        balls.push(track);
        continue;
      }
      for (let k = 0; k < points.length; k += 2) {
        const [a, b] = [points[k], points[k + 1]];
        if (Number.isFinite(a[0]) && Number.isFinite(b[0])) lines.push([a, b, color, 1.33 * width, 1.33 * width]);
      }
    }
    return { among: lines, above, balls };
  }

  placeLabels() {
    const { clientWidth: width, clientHeight: height } = byId("scene");
    const names = byId("names").checked;
    for (const { body, station, span, isName } of this.labels) {
      const p = moved(this.poses[body], station), P = this.drawing.P;
      const [x, y, , w] = [0, 1, 2, 3].map((i) => P[i] * p[0] + P[4 + i] * p[1] + P[8 + i] * p[2] + P[12 + i]);
      const shown = w > 0 && (names || !isName);
      span.hidden = !shown;
      if (shown) span.style.transform = `translate(${((x / w + 1) / 2) * width + 4}px, ${((1 - y / w) / 2) * height - 8}px)`;
    }
  }

  drawGraph(which) {
    const canvas = byId("graph"), dots = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    Object.assign(canvas, { width: width * dots, height: height * dots });
    const context = canvas.getContext("2d");
    context.scale(dots, dots);
    const n = this.motion.count;
    const count = this.about.curves.length;
    const all = Array.from({ length: this.about.motions || 1 }, (_, k) => this.motion.arrays.curves.subarray((k * count + which) * n, (k * count + which + 1) * n));
    const text = getComputedStyle(document.body).color, colors = this.about.curve_colors;
    const colorOf = (k) => (all.length === 1 ? "#4d78a8" : k ? colors[(k - 1) % colors.length] : text);
    let low = Infinity, high = -Infinity;
    for (const one of all) for (const value of one) (low = Math.min(low, value)), (high = Math.max(high, value));
    const isConstant = high - low <= 4e-7 * Math.max(Math.abs(low), Math.abs(high)); // but for rounding to single precision
    const span = isConstant ? 1 : high - low, middle = (low + high) / 2;
    const x = (k) => 8 + ((width - 16) * k) / Math.max(n - 1, 1);
    const y = (value) => (height + 4) / 2 - (isConstant ? 0 : ((height - 40) * (value - middle)) / span);
    all.forEach((one, k) => {
      context.strokeStyle = colorOf(k);
      context.lineWidth = 1.5;
      context.beginPath();
      one.forEach((value, row) => context.lineTo(x(row), y(value)));
      context.stroke();
    });
    context.strokeStyle = "rgba(199, 125, 46, 0.6)";
    context.lineWidth = 1;
    context.beginPath();
    for (const [time] of this.about.events || []) {
      const at = x(((n - 1) * (time - this.about.start)) / (this.motion.duration || 1));
      context.moveTo(at, 20);
      context.lineTo(at, height - 14);
    }
    context.stroke();
    const [i, j, part] = this.motion.rowsAt(this.time);
    context.strokeStyle = "#c03d3e";
    context.beginPath();
    context.moveTo(x(i + part), 20);
    context.lineTo(x(i + part), height - 14);
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    let at = 8; // of the legend, as far as there is room
    all.forEach((one, k) => {
      const now = (1 - part) * one[i] + part * one[j];
      context.fillStyle = all.length === 1 ? "#c03d3e" : colorOf(k);
      context.beginPath();
      context.arc(x(i + part), y(now), 3, 0, 7);
      context.fill();
      const said = (all.length === 1 ? "" : `motion ${k + 1}: `) + Number(now.toPrecision(4));
      if (at + context.measureText(said).width < width - 8) context.fillText(said, at, height - 3);
      at += Math.max(context.measureText(said).width, all.length === 1 ? 0 : 104) + 12;
    });
    context.fillStyle = text;
    context.fillText(this.about.curve_titles[which], 8, 14);
    context.textAlign = "right";
    const [from, to] = [low, high].map((value) => Number(value.toPrecision(3)));
    context.fillText(isConstant ? `constant: ${Number(middle.toPrecision(4))}` : `${from} to ${to}`, width - 8, 14);
  }
}

unpack()
  .then(([about, arrays]) => new Player(about, arrays))
  .catch((error) => {
    byId("said").textContent = `this motion cannot be shown: ${error.message}`;
    throw error;
  });
