'use strict';
// Draws the page's figures as SVG: lines, areas, points and bars of error over linear and
// logarithmic axes. Dragging zooms along x, for all figures of one link; a double-click ends it.
(() => {
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const drawn = new Map();      // what a figure needs to answer the pointer, by its name
  const ranges = {};            // of the zoomed x-axes, by link
  const DASHES = {dash: '8 5', dot: '2 4'};
  const RAISED = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';

  function add(parent, name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) { made.setAttribute(key, value); }
    if (text !== undefined) { made.textContent = text; }
    return parent.appendChild(made);
  }

  function shown(value, digits) {
    const size = Math.abs(value);
    const text = size && (size >= 1e6 || size < 1e-4) ? value.toExponential(digits - 1)
      : String(Number(value.toPrecision(digits)));
    return text.replace(/-/g, '\u2212');
  }

  // an axis between two places [px]; values below zero are nowhere on a logarithmic one
  function scale(axis, low, high, from, to) {
    const log = axis.type === 'log';
    const [a, b] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
    return {
      low, high, log,
      place: value => from + ((log ? Math.log10(value) : value) - a) / (b - a) * (to - from),
      value: place => {
        const found = a + (place - from) / (to - from) * (b - a);
        return log ? 10 ** found : found;
      },
    };
  }

  function widened(low, high, log, room) {
    if (!(low <= high)) { return log ? [1, 10] : [-1, 1]; }
    if (log) {
      const part = Math.max((high / low) ** room, high > low ? 1 : 1.5);
      return [low / part, high * part];
    }
    const part = room * (high - low) || (room || high === low ? Math.abs(high) || 1 : 0);
    return [low - part, high + part];
  }

  function raised(power) {
    return '10' + (power < 0 ? '\u207b' : '') + [...String(Math.abs(power))].map(
      digit => RAISED[digit]).join('');
  }

  // tiny and huge numbers share a power of ten, which stands before the unit
  function common(s) {
    const size = s.log ? 0 : Math.max(Math.abs(s.low), Math.abs(s.high));
    return size && (size < 1e-3 || size >= 1e6) ? 3 * Math.floor(Math.log10(size) / 3) : 0;
  }

  function ticks(s, most, shared) {
    const found = [];
    if (s.log && s.high / s.low >= 5) {
      const decades = Math.log10(s.high / s.low);
      const step = Math.max(1, Math.ceil(decades / most));
      for (let k = Math.floor(Math.log10(s.low)); 10 ** k <= s.high; k += step) {
        for (const part of decades < 2 ? [1, 2, 5] : [1]) {
          const value = part * 10 ** k;
          if (value >= s.low && value <= s.high) {
            found.push([value, decades < 2 ? shown(value, 1) : raised(k)]);
          }
        }
      }
      return found;
    }
    const power = 10 ** Math.floor(Math.log10((s.high - s.low) / most));
    const count = step => Math.floor(s.high / step + 1e-9) - Math.ceil(s.low / step - 1e-9) + 1;
    const step = power * [1, 2, 5, 10, 20].find(part => count(part * power) <= most);
    for (let k = Math.ceil(s.low / step - 1e-9); k * step <= s.high + 1e-9 * step; k += 1) {
      found.push([k * step, shown(k * step / 10 ** shared, 6)]);
    }
    return found;
  }

  // extremes of what is seen of the traces; those of two points are lines through all
  function extremes(traces, key, inside) {
    let low = Infinity, high = -Infinity;
    for (const trace of traces) {
      trace[key].forEach((value, i) => {
        if (value === null || (trace.x.length > 2 && !inside(trace.x[i]))) { return; }
        low = Math.min(low, value);
        high = Math.max(high, value);
      });
    }
    return [low, high];
  }

  function line(trace, x, y) {
    let path = '', pen = 'M';
    trace.x.forEach((value, i) => {
      if (value === null || trace.y[i] === null) { pen = 'M'; return; }
      path += `${pen}${x.place(value).toFixed(1)} ${y.place(trace.y[i]).toFixed(1)}`;
      pen = 'L';
    });
    return path;
  }

  function drawTrace(panel, trace, x, y) {
    const path = line(trace, x, y);
    if (trace.mode === 'lines') {
      if (trace.fill) {
        const zero = y.place(0).toFixed(1);
        add(panel, 'path', {fill: trace.fillcolor, d: path.split('M').filter(Boolean).map(
          part => `M${part.split(' ')[0]} ${zero}L${part}V${zero}Z`).join('')});
      }
      add(panel, 'path', {d: path, fill: 'none', stroke: trace.line.color,
        'stroke-width': trace.line.width, 'stroke-linejoin': 'round',
        'stroke-dasharray': DASHES[trace.line.dash] || 'none'});
      return;
    }
    const bars = trace.error_y;
    if (bars) {
      add(panel, 'path', {stroke: bars.color, 'stroke-width': bars.thickness, d: trace.x.map(
        (value, i) => `M${x.place(value).toFixed(1)} ${y.place(trace.y[i] - bars.arrayminus[i])
          .toFixed(1)}V${y.place(trace.y[i] + bars.array[i]).toFixed(1)}`).join('')});
    }
    const look = trace.marker, edge = look.line || {color: 'none', width: 0};
    const points = add(panel, 'g', {fill: look.color, opacity: look.opacity || 1,
      stroke: edge.color, 'stroke-width': edge.width});
    trace.x.forEach((value, i) => add(points, 'circle', {
      cx: x.place(value).toFixed(1), cy: y.place(trace.y[i]).toFixed(1), r: look.size / 2}));
  }

  function drawAxis(svg, axis, s, from, to, across, vertical) {
    const [a, b, p, q] = vertical ? ['y1', 'y2', 'x1', 'x2'] : ['x1', 'x2', 'y1', 'y2'];
    const shared = common(s);
    for (const [value, text] of ticks(s, axis.nticks, shared)) {
      const place = s.place(value).toFixed(1);
      add(svg, 'line', {[a]: place, [b]: place, [p]: across[0], [q]: across[1],
        stroke: value === 0 ? 'var(--muted)' : 'var(--grid)'});
      add(svg, 'text', {...(vertical ? {x: across[0] - 6, y: Number(place) + 4} : {x: place, y: across[1] + 15}),
        'font-size': 11, 'text-anchor': vertical ? 'end' : 'middle'}, text);
    }
    const middle = (from + to) / 2;
    const where = vertical ? {transform: `translate(12 ${middle}) rotate(-90)`}
      : {x: middle, y: across[1] + 34};
    add(svg, 'text', {...where, 'font-size': axis.title.font.size, 'text-anchor': 'middle'},
      shared ? axis.title.text.replace('[', `[${raised(shared)} `) : axis.title.text);
  }

  function traces(figure) {
    const first = figure.data[0];
    return figure.data.map(trace => trace.x === '=' ? {...trace, x: first.x} : trace);
  }

  function draw(name) {
    const place = document.getElementById(name), figure = figures[name];
    const width = place.clientWidth, height = place.clientHeight;
    if (!width) { return; }
    const margin = figure.layout.margin;
    const left = margin.l, right = width - margin.r, inner = height - margin.t - margin.b;
    const all = traces(figure), xAxis = figure.layout.xaxis;
    const whole = extremes(all, 'x', () => true);
    const zoomed = ranges[figure.link];
    const points = all.some(trace => trace.mode !== 'lines');
    const x = scale(xAxis, ...(zoomed || widened(...whole, xAxis.type === 'log', points ? 0.03 : 0)),
      left, right);
    const svg = add(document.createDocumentFragment(), 'svg', {width: '100%', height,
      viewBox: `0 0 ${width} ${height}`, fill: 'var(--ink)', 'aria-hidden': true});
    const inside = value => value >= x.low && value <= x.high;
    for (const [key, axis] of Object.entries(figure.layout)) {
      if (!key.startsWith('yaxis')) { continue; }
      const mine = all.filter(trace => trace.yaxis === 'y' + key.slice(5));
      const [bottom, top] = (axis.domain || [0, 1]).map(part => margin.t + (1 - part) * inner);
      const log = axis.type === 'log';
      const y = scale(axis, ...(axis.range || widened(...extremes(mine, 'y', inside), log, 0.05)),
        bottom, top);
      drawAxis(svg, axis, y, top, bottom, [left, right], true);
      if (bottom > height - margin.b - 1) {
        drawAxis(svg, xAxis, x, left, right, [margin.t, bottom], false);
      }
      // a nested svg cuts off what leaves the panel
      const panel = add(svg, 'svg', {x: left, y: top, width: right - left, height: bottom - top,
        viewBox: `${left} ${top} ${right - left} ${bottom - top}`});
      mine.forEach(trace => drawTrace(panel, trace, x, y));
    }
    place.replaceChildren(svg);
    drawn.set(name, {place, svg, x, all, left, right, top: margin.t, bottom: height - margin.b});
  }

  function nearest(list, value) {
    let best = 0;
    list.forEach((each, i) => { if (Math.abs(each - value) < Math.abs(list[best] - value)) { best = i; } });
    return best;
  }

  function tell(name, event) {
    const {place, svg, x, all, left, right, top, bottom} = drawn.get(name);
    svg.querySelectorAll('.cursor').forEach(old => old.remove());
    place.querySelectorAll('.values').forEach(old => old.remove());
    const at = event && event.clientX - svg.getBoundingClientRect().left;
    if (!event || at < left || at > right) { return; }
    add(svg, 'line', {class: 'cursor', x1: at, x2: at, y1: top, y2: bottom, stroke: 'var(--muted)',
      'stroke-dasharray': '3 3'});
    const box = document.createElement('div');
    box.className = 'values';
    const rows = [[figures[name].layout.xaxis.title.text, shown(x.value(at), 4), 'inherit']];
    for (const trace of all) {
      if (trace.hoverinfo === 'skip') { continue; }
      const i = nearest(trace.x, x.value(at));
      if (trace.y[i] !== null) { rows.push([trace.name, shown(trace.y[i], 4), trace.line.color]); }
    }
    for (const [label, value, colour] of rows) {
      const row = box.appendChild(document.createElement('div'));
      row.style.color = colour;
      row.textContent = `${label}: ${value}`;
    }
    place.append(box);
    box.style.left = `${at > place.clientWidth / 2 ? at - box.offsetWidth - 12 : at + 12}px`;
  }

  function zoom(name, range) {
    const link = figures[name].link || (figures[name].link = name);
    if (range) { ranges[link] = range; } else { delete ranges[link]; }
    [...drawn.keys()].filter(other => figures[other].link === link).forEach(draw);
  }

  function listen(name) {
    const place = document.getElementById(name);
    let start = null, mark = null;
    const at = event => {
      const {svg, left, right} = drawn.get(name);
      return Math.min(right, Math.max(left, event.clientX - svg.getBoundingClientRect().left));
    };
    place.addEventListener('pointerdown', event => {
      if (event.button || event.pointerType === 'touch') { tell(name, event); return; }
      start = at(event);
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener('pointermove', event => {
      if (start === null) { tell(name, event); return; }
      tell(name, null);
      const {svg, top, bottom} = drawn.get(name), now = at(event);
      if (mark) { mark.remove(); }
      mark = add(svg, 'rect', {x: Math.min(start, now), width: Math.abs(now - start), y: top,
        height: bottom - top, fill: 'var(--predicted)', opacity: 0.15});
    });
    place.addEventListener('pointerup', event => {
      if (start === null) { return; }
      const {x} = drawn.get(name), ends = [start, at(event)].sort((a, b) => a - b);
      start = mark = null;
      if (ends[1] - ends[0] > 8) { zoom(name, ends.map(x.value)); }
    });
    place.addEventListener('pointerleave', () => tell(name, null));
    place.addEventListener('dblclick', () => zoom(name, null));
  }

  const sizes = new ResizeObserver(entries => entries.forEach(entry => {
    const known = drawn.get(entry.target.id);
    if (known && known.svg.viewBox.baseVal.width !== entry.target.clientWidth) { draw(entry.target.id); }
  }));

  function first(place) {
    draw(place.id);
    if (!drawn.has(place.id)) { return; }
    watcher.unobserve(place);
    listen(place.id);
    sizes.observe(place);
  }

  const watcher = new IntersectionObserver(entries => {
    entries.filter(entry => entry.isIntersecting).forEach(entry => first(entry.target));
  }, {rootMargin: '500px'});
  Object.keys(figures).forEach(name => watcher.observe(document.getElementById(name)));

  // a page of paper is narrower than the window: plots are drawn for it, and back
  addEventListener('beforeprint', () => {
    document.body.classList.add('printing');
    for (const name of Object.keys(figures)) {
      const place = document.getElementById(name);
      if (drawn.has(name)) { draw(name); } else if (place.offsetParent) { first(place); }
    }
  });
  addEventListener('afterprint', () => {
    document.body.classList.remove('printing');
    [...drawn.keys()].forEach(draw);
  });
})();
