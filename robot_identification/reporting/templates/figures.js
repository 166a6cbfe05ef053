// Plots: the value under the pointer, and zooming along x. Dragging zooms all plots of one link,
// a double-click shows everything again. The plots themselves are part of the page.
(() => {
  const BOX = 10000;            // of the curves' coordinates, see figure.py
  const zoomed = {};            // part of the x-axis [0, 1] that is shown, by link
  const known = new WeakMap();  // panels of a figure
  const RAISED = '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079';

  function add(parent, name, attributes, text = '') {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) { made.setAttribute(key, value); }
    made.textContent = text;
    return parent.appendChild(made);
  }

  function format(value, digits) {
    const size = Math.abs(value);
    const text = size && (size >= 1e6 || size < 1e-4) ? value.toExponential(digits - 1)
      : String(Number(value.toPrecision(digits)));
    return text.replace(/-/g, '\u2212');
  }

  const power = exponent => '10' + (exponent < 0 ? '\u207b' : '') + [...String(Math.abs(exponent))].map(
    digit => RAISED[digit]).join('');

  function axis(text, log) {
    const [low, high] = text.split(' ').map(Number);
    const value = part => (log ? low * (high / low) ** part : low + part * (high - low));
    const part = x => (log ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
    return {log, value, part};
  }

  // points of a curve in the box; areas begin and end at zero, which is not data
  function points(path) {
    const found = [];
    for (const run of path.getAttribute('d').split('M').slice(1)) {
      const numbers = run.match(/-?\d+/g).map(Number), line = [];
      let x = 0, y = 0;
      for (let i = 0; i + 1 < numbers.length; i += 2) {
        x += numbers[i];
        y += numbers[i + 1];
        line.push([x, y]);
      }
      if (found.length && line.length > 1) { found.push([(found.at(-1)[0] + line[0][0]) / 2, NaN]); }
      found.push(...(path.classList.contains('area') ? line.slice(1, -1) : line));
    }
    return found;
  }

  function panelsOf(figure) {
    if (!known.has(figure)) {
      known.set(figure, [...figure.querySelectorAll('.panel')].map(svg => {
        const {x, y, log, ticks, fixed} = svg.dataset;
        return {svg, x: axis(x, log.includes('x')), y: axis(y, log.includes('y')), fixed,
          ticks: Number(ticks), box: svg.querySelector('.curves'), axes: svg.querySelector('.axes'),
          whole: svg.querySelector('.axes').innerHTML,
          curves: [...svg.querySelectorAll('[data-name]')].map(path => ({
            name: path.dataset.name, colour: path.getAttribute('stroke'), points: points(path)}))};
      }));
    }
    return known.get(figure);
  }

  function ticks(low, high, log, most) {
    const found = [];
    if (log && high / low >= 5) {
      const decades = Math.log10(high / low), step = Math.max(1, Math.ceil(decades / most));
      for (let k = Math.floor(Math.log10(low)); 10 ** k <= high; k += step) {
        for (const factor of decades < 2 ? [1, 2, 5] : [1]) {
          const value = factor * 10 ** k;
          if (value >= low && value <= high) {
            found.push([value, decades < 2 ? format(value, 1) : power(k)]);
          }
        }
      }
      return found;
    }
    const size = log ? 0 : Math.max(Math.abs(low), Math.abs(high));
    const shared = size && (size < 1e-3 || size >= 1e6) ? 3 * Math.floor(Math.log10(size) / 3) : 0;
    const unit = 10 ** Math.floor(Math.log10((high - low) / most));
    const count = step => Math.floor(high / step + 1e-9) - Math.ceil(low / step - 1e-9) + 1;
    const step = unit * [1, 2, 5, 10, 20].find(factor => count(factor * unit) <= most);
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
      found.push([k * step, format(k * step / 10 ** shared, 6)]);
    }
    found.shared = shared;
    return found;
  }

  // all y of the curves between two x, with some room; in the box
  function extent(panel, from, to) {
    let low = Infinity, high = -Infinity;
    for (const {points: all} of panel.curves) {
      for (const [x, y] of all) {
        if (y === y && x >= from && x <= to) { low = Math.min(low, y); high = Math.max(high, y); }
      }
    }
    const room = 0.05 * (high - low) || 1;
    return low <= high ? [low - room, high + room] : [0, BOX];
  }

  function show(panel, view) {
    panel.axes.innerHTML = panel.whole;
    const [from, to] = view || [0, 1];
    const [top, bottom] = view && !panel.fixed ? extent(panel, BOX * from, BOX * to) : [0, BOX];
    panel.box.setAttribute('viewBox', `${BOX * from} ${top} ${BOX * (to - from)} ${bottom - top}`);
    if (!view) { return; }
    panel.axes.querySelectorAll('.tick').forEach(old => old.remove());
    const last = panel.axes.querySelector('.x') !== null;
    for (const [value, label] of ticks(panel.x.value(from), panel.x.value(to), panel.x.log, 6)) {
      const at = `${100 * (panel.x.part(value) - from) / (to - from)}%`;
      add(panel.axes, 'line', {class: value ? 'tick' : 'tick zero', x1: at, x2: at, y2: '100%'});
      if (last) { add(panel.axes, 'text', {class: 'tick', x: at, y: '100%', dy: 15, 'text-anchor': 'middle'}, label); }
    }
    const found = ticks(panel.y.value(1 - bottom / BOX), panel.y.value(1 - top / BOX), panel.y.log, panel.ticks);
    for (const [value, label] of found) {
      const at = `${100 * (BOX * (1 - panel.y.part(value)) - top) / (bottom - top)}%`;
      add(panel.axes, 'line', {class: value ? 'tick' : 'tick zero', y1: at, y2: at, x2: '100%'});
      add(panel.axes, 'text', {class: 'tick', x: -6, y: at, dy: 4, 'text-anchor': 'end'}, label);
    }
    const title = panel.axes.querySelector('.y');
    title.textContent = found.shared ? title.dataset.label.replace('[', `[${power(found.shared)} `)
      : title.dataset.label;
  }

  function zoom(figure, view) {
    const link = figure.dataset.link || figure.id;
    if (figure.dataset.names || (!view && !zoomed[link])) { return; }
    zoomed[link] = view;
    for (const other of document.querySelectorAll('.figure')) {
      if ((other.dataset.link || other.id) === link) {
        panelsOf(other).forEach(panel => show(panel, view));
      }
    }
  }

  const viewOf = figure => zoomed[figure.dataset.link || figure.id] || [0, 1];

  // place of the pointer in the panels, from 0 to 1
  function place(figure, event) {
    const box = panelsOf(figure)[0].svg.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  }

  // the nearest named tick, such as a date
  function nameOf(figure, x) {
    if (!figure.dataset.names) { return x; }
    const [places, ...names] = figure.dataset.names.split('|'), far = places.split(' ').map(at => Math.abs(at - x));
    return names[far.indexOf(Math.min(...far))];
  }

  function hide(figure) {
    figure.querySelectorAll('.cursor, .values').forEach(old => old.remove());
  }

  function read(figure, event) {
    hide(figure);
    const at = place(figure, event);
    if (at < 0 || at > 1) { return; }
    const panels = panelsOf(figure), [from, to] = viewOf(figure);
    const x = BOX * (from + at * (to - from)), box = document.createElement('div');
    box.className = 'values';
    box.role = 'status';
    const rows = [[figure.dataset.label, nameOf(figure, panels[0].x.value(x / BOX)), 'inherit']];
    for (const panel of panels) {
      add(panel.svg, 'line', {class: 'cursor', x1: `${100 * at}%`, x2: `${100 * at}%`, y2: '100%'});
      for (const {name, colour, points: all} of panel.curves) {
        const [, y] = all.reduce((best, point) => (
          Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best), [Infinity, NaN]);
        if (y === y) { rows.push([name, panel.y.value(1 - y / BOX), colour]); }
      }
    }
    for (const [label, value, colour] of rows) {
      const row = box.appendChild(document.createElement('div'));
      row.style.color = colour;
      row.textContent = `${label}: ${typeof value === 'string' ? value : format(value, 4)}`;
    }
    figure.append(box);
    const pixel = event.clientX - figure.getBoundingClientRect().left;
    box.style.left = `${at > 0.5 ? pixel - box.offsetWidth - 12 : pixel + 12}px`;
  }

  for (const figure of document.querySelectorAll('.figure')) {
    let start = null, mark = [];
    const bounded = event => Math.min(1, Math.max(0, place(figure, event)));
    const clear = () => { mark.forEach(old => old.remove()); mark = []; };
    figure.addEventListener('pointerdown', event => {
      if (event.button || event.pointerType === 'touch') { read(figure, event); return; }
      start = bounded(event);
      figure.setPointerCapture(event.pointerId);
    });
    figure.addEventListener('pointermove', event => {
      if (start === null) { read(figure, event); return; }
      hide(figure);
      clear();
      const now = bounded(event);
      mark = panelsOf(figure).map(({svg}) => add(svg, 'rect', {class: 'mark', height: '100%',
        x: `${100 * Math.min(start, now)}%`, width: `${100 * Math.abs(now - start)}%`}));
    });
    figure.addEventListener('pointerup', event => {
      if (start === null) { return; }
      const [from, to] = viewOf(figure), ends = [start, bounded(event)].sort((a, b) => a - b);
      start = null;
      clear();
      if (ends[1] - ends[0] > 0.015) { zoom(figure, ends.map(end => from + end * (to - from))); }
    });
    figure.addEventListener('pointerleave', () => hide(figure));
    figure.addEventListener('dblclick', () => zoom(figure, null));
    // arrow keys move the cursor, Escape ends reading and zooming
    let at = 0.5;
    figure.addEventListener('keydown', event => {
      const step = {ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1}[event.key];
      if (event.key === 'Escape') { hide(figure); zoom(figure, null); }
      if (!step) { return; }
      event.preventDefault();
      at = Math.min(1, Math.max(0, at + step));
      const box = panelsOf(figure)[0].svg.getBoundingClientRect();
      read(figure, {clientX: box.left + at * box.width});
    });
    figure.addEventListener('blur', () => hide(figure));
  }
})();
