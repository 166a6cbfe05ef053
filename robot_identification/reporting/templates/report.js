'use strict';
(() => {
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const drawn = new Set();
  const ranges = {};      // of the x-axes, by link
  const config = {displayModeBar: false, responsive: true, doubleClick: 'autosize'};
  let following = false;

  // replaces 'var(--name)' by what the style sheet says now
  function coloured(value, style) {
    if (typeof value === 'string') {
      return value.startsWith('var(') ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === 'number' ? value : value.map(item => coloured(item, style));
    }
    if (value && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [key, coloured(item, style)]));
    }
    return value;
  }

  function zoomed(link) {
    const range = ranges[link];
    return range ? {'xaxis.range': range.slice(), 'xaxis.autorange': false}
      : {'xaxis.autorange': true};
  }

  function follow(name, event) {
    const link = figures[name].link;
    if (following || !link) { return; }
    if (event['xaxis.range[0]'] !== undefined) {
      ranges[link] = [event['xaxis.range[0]'], event['xaxis.range[1]']];
    } else if (event['xaxis.autorange']) {
      delete ranges[link];
    } else {
      return;
    }
    following = true;
    const others = [...drawn].filter(other => other !== name && figures[other].link === link);
    Promise.all(others.map(other => Plotly.relayout(other, zoomed(link))))
      .finally(() => { following = false; });
  }

  function draw(name) {
    const place = document.getElementById(name);
    const style = getComputedStyle(document.documentElement);
    const first = figures[name].data[0];
    const data = coloured(figures[name].data, style).map(
      trace => trace.x === '=' ? {...trace, x: first.x} : trace);
    const layout = coloured(figures[name].layout, style);
    layout.font.family = getComputedStyle(document.body).fontFamily;
    const link = figures[name].link;
    if (link && ranges[link]) { layout.xaxis.range = ranges[link].slice(); }
    const known = drawn.has(name);
    Plotly.react(place, data, layout, config);
    drawn.add(name);
    if (!known && link) { place.on('plotly_relayout', event => follow(name, event)); }
  }

  const watcher = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        watcher.unobserve(entry.target);
        draw(entry.target.id);
      }
    }
  }, {rootMargin: '500px'});
  Object.keys(figures).forEach(name => watcher.observe(document.getElementById(name)));

  function redraw() { [...drawn].forEach(draw); }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  // a page of paper is narrower than the window: plots are drawn for it, and back
  addEventListener('beforeprint', () => {
    document.body.classList.add('printing');
    for (const name of Object.keys(figures)) {
      const place = document.getElementById(name);
      if (!place.offsetParent) { continue; }
      if (!drawn.has(name)) { draw(name); }
      Plotly.relayout(place, {width: place.clientWidth});
    }
  });
  addEventListener('afterprint', () => {
    document.body.classList.remove('printing');
    [...drawn].forEach(name => Plotly.relayout(name, {width: null, autosize: true}));
  });

  // sorting: numbers by value, texts by letter, what is unknown always last
  function compare(a, b) {
    if (a === '' || b === '') { return (a === '') - (b === ''); }
    const numbers = [Number(a), Number(b)];
    return numbers.some(Number.isNaN) ? a.localeCompare(b) : numbers[0] - numbers[1];
  }

  function sort(head) {
    const body = head.closest('table').tBodies[0];
    const falling = head.getAttribute('aria-sort') === 'ascending';
    for (const other of head.parentNode.children) { other.removeAttribute('aria-sort'); }
    head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    const key = row => row.children[head.cellIndex].dataset.sort;
    const rows = [...body.rows].sort((a, b) => {
      const order = compare(key(a), key(b));
      const known = key(a) !== '' && key(b) !== '';
      return falling && known ? -order : order;
    });
    body.append(...rows);
  }
  for (const head of document.querySelectorAll('.sortable th')) {
    head.tabIndex = 0;
    head.addEventListener('click', () => sort(head));
    head.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); sort(head); }
    });
  }
})();
