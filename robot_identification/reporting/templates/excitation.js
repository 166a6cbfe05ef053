'use strict';
// Draws the arm's visual meshes or collision hulls and the tool's path; drag to turn, wheel to zoom.
const data = JSON.parse(document.getElementById('motion').textContent);
const canvas = document.getElementById('arm');
const slider = document.getElementById('time');
const button = document.getElementById('play');
const clock = document.getElementById('clock');
const speed = document.getElementById('speed');
const hulls = document.getElementById('hulls');
const view = { yaw: 0.9, pitch: 0.35, zoom: 1 };
const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
let playing = !still;
let frame = 0;
let last = null;
// the time in the plots, in the coordinates of their curves, so that it moves with a zoom
const BOX = 10000;
const marks = [...document.querySelectorAll('.curves')].map(curves => {
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  line.setAttribute('class', 'now');
  line.setAttribute('y2', BOX);
  return curves.appendChild(line);
});

function eye(p) {
  const x = p[0] - data.centre[0], y = p[1] - data.centre[1], z = p[2] - data.centre[2];
  const c = Math.cos(view.yaw), s = Math.sin(view.yaw);
  const u = c * x + s * y, w = -s * x + c * y;
  const cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
  return [-w, sp * u - cp * z, cp * u + sp * z];      // right, down, towards the eye
}

function placed(vertex, link, k) {
  if (link < 0) return vertex;
  const m = data.frames[k][link];
  return [m[0] * vertex[0] + m[1] * vertex[1] + m[2] * vertex[2] + m[9],
    m[3] * vertex[0] + m[4] * vertex[1] + m[5] * vertex[2] + m[10],
    m[6] * vertex[0] + m[7] * vertex[1] + m[8] * vertex[2] + m[11]];
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  const scale = 0.42 * Math.min(width, height) / data.radius * view.zoom;
  const screen = e => [width / 2 + scale * e[0], height / 2 + scale * e[1]];
  const style = getComputedStyle(document.documentElement);
  const faces = [];
  for (const shape of hulls && !hulls.checked ? data.visuals : data.shapes) {
    const points = shape.vertices.map(v => eye(placed(v, shape.link, frame)));
    for (const [a, b, c] of shape.faces) {
      const p = points[a], q = points[b], r = points[c];
      const n = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
      const m = [(q[1] - p[1]) * (r[2] - p[2]) - (q[2] - p[2]) * (r[1] - p[1]),
        (q[2] - p[2]) * (r[0] - p[0]) - (q[0] - p[0]) * (r[2] - p[2]), n];
      const light = Math.abs(-m[1] * 0.6 + m[2] * 0.7 + m[0] * 0.3) / (Math.hypot(...m) || 1);
      faces.push([(p[2] + q[2] + r[2]) / 3, [p, q, r], shape.hue, 30 + 45 * light]);
    }
  }
  g.lineWidth = 1;
  g.strokeStyle = style.getPropertyValue('--grid');
  for (const [from, to] of data.floor) {
    g.beginPath();
    g.moveTo(...screen(eye(from)));
    g.lineTo(...screen(eye(to)));
    g.stroke();
  }
  faces.sort((one, other) => one[0] - other[0]);
  for (const [, corners, hue, light] of faces) {
    g.beginPath();
    corners.forEach((p, i) => { const s = screen(p); if (i) g.lineTo(...s); else g.moveTo(...s); });
    g.closePath();
    g.fillStyle = `hsl(${hue} ${hue < 0 ? 0 : 35}% ${light}%)`;
    g.strokeStyle = g.fillStyle;
    g.fill();
    g.stroke();
  }
  g.lineWidth = 3;
  g.strokeStyle = style.getPropertyValue('--muted');
  for (const [link, parent] of data.bones) {
    g.beginPath();
    g.moveTo(...screen(eye(parent < 0 ? data.base : placed([0, 0, 0], parent, frame))));
    g.lineTo(...screen(eye(placed([0, 0, 0], link, frame))));
    g.stroke();
  }
  if (data.bones.length) {
    g.beginPath();
    g.moveTo(...screen(eye(placed([0, 0, 0], data.tool, frame))));
    g.lineTo(...screen(eye(data.path[frame])));
    g.stroke();
  }
  g.lineWidth = 1.2;
  g.strokeStyle = style.getPropertyValue('--predicted');
  g.beginPath();
  data.path.forEach((p, i) => { const s = screen(eye(p)); if (i) g.lineTo(...s); else g.moveTo(...s); });
  g.stroke();
  const s = screen(eye(data.path[frame]));
  g.fillStyle = style.getPropertyValue('--residual');
  g.beginPath();
  g.arc(s[0], s[1], 4, 0, 7);
  g.fill();
  slider.value = frame;
  clock.textContent = `${(frame / (data.frames.length - 1) * data.period).toFixed(2)} s`;
  for (const line of marks) {
    const x = BOX * frame / (data.frames.length - 1);
    line.setAttribute('x1', x);
    line.setAttribute('x2', x);
  }
}

function tick(now) {
  if (playing) {
    if (last !== null) {
      const step = (now - last) / 1000 * Number(speed.value) / data.period * (data.frames.length - 1);
      if (step >= 1) {
        frame = (frame + Math.floor(step)) % data.frames.length;
        last = now;
        draw();
      }
    } else last = now;
    requestAnimationFrame(tick);
  } else last = null;
}

function play(on) {
  playing = on;
  button.textContent = on ? 'Pause' : 'Play';
  if (on) requestAnimationFrame(tick);
}

slider.max = data.frames.length - 1;
slider.addEventListener('input', () => { play(false); frame = Number(slider.value); draw(); });
button.addEventListener('click', () => play(!playing));
function turn(yaw, pitch, zoom) {
  view.yaw += yaw;
  view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + pitch));
  view.zoom = Math.max(0.3, Math.min(6, view.zoom * zoom));
  draw();
}

// one pointer turns the arm, two zoom
const held = new Map();
const spread = () => { const [a, b] = [...held.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
canvas.addEventListener('pointerdown', e => { held.set(e.pointerId, [e.clientX, e.clientY]);
  canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener('pointermove', e => {
  const from = held.get(e.pointerId);
  if (!from) return;
  const before = held.size === 2 ? spread() : 0;
  held.set(e.pointerId, [e.clientX, e.clientY]);
  if (before) turn(0, 0, spread() / before);
  else if (held.size === 1) turn((from[0] - e.clientX) * 0.008, (e.clientY - from[1]) * 0.008, 1);
});
for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, e => held.delete(e.pointerId));
canvas.addEventListener('wheel', e => { e.preventDefault(); turn(0, 0, Math.exp(-e.deltaY * 0.001)); }, { passive: false });
canvas.addEventListener('keydown', e => {
  const step = { ArrowLeft: [0.1, 0, 1], ArrowRight: [-0.1, 0, 1], ArrowUp: [0, -0.1, 1], ArrowDown: [0, 0.1, 1],
    '+': [0, 0, 1.15], '-': [0, 0, 1 / 1.15] }[e.key];
  if (step) { e.preventDefault(); turn(...step); }
});
if (hulls) hulls.addEventListener('change', draw);
window.addEventListener('resize', draw);
draw();
play(playing);
