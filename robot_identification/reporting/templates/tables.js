(() => {
  // Tables: a click on a head sorts, numbers by value, texts by letter, unknown values last. Tables
  // with data-search have a search field and a button for each verdict.
  const UNKNOWN = new Set(['', 'nan', 'none', 'null', '-', '\u2013']);

  function compare(a, b) {
    const numbers = [Number(a), Number(b)];
    return numbers.some(Number.isNaN) ? a.localeCompare(b) : numbers[0] - numbers[1];
  }

  function sort(head, falling) {
    const body = head.closest('table').tBodies[0];
    for (const other of head.parentNode.children) { other.removeAttribute('aria-sort'); }
    head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
    const keyed = [...body.rows].map(row => {
      const cell = row.children[head.cellIndex];
      const key = (cell.dataset.sort ?? cell.textContent).trim();
      return {row, key, known: !UNKNOWN.has(key.toLowerCase())};
    });
    keyed.sort((a, b) => (a.known && b.known ? (falling ? -1 : 1) * compare(a.key, b.key)
      : b.known - a.known));
    body.append(...keyed.map(each => each.row));
  }

  const add = (parent, name, properties) => parent.appendChild(
    Object.assign(document.createElement(name), properties));

  for (const [number, box] of document.querySelectorAll('.scroll').entries()) {
    const table = box.querySelector('table'), heads = [...table.querySelectorAll('thead th')];
    const named = box.closest('section')?.querySelector('h2')?.textContent || document.title;
    if (box.scrollWidth > box.clientWidth + 1) {    // reached by keyboard
      Object.assign(box, {tabIndex: 0, role: 'region', ariaLabel: `Table ${number + 1}: ${named}`});
    }
    if (!table.classList.contains('sortable')) { continue; }
    const rows = [...table.tBodies[0].rows];
    for (const head of heads) {
      head.tabIndex = 0;
      const turn = () => sort(head, head.getAttribute('aria-sort') === 'ascending');
      head.addEventListener('click', turn);
      head.addEventListener('keydown', event => {
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); turn(); }
      });
    }
    table.classList.add('cards');
    for (const row of rows) {
      [...row.cells].forEach((cell, i) => { cell.dataset.label = heads[i].textContent; });
    }
    if (rows.length < 2) { continue; }
    const find = document.createElement('div'), search = box.dataset.search;
    find.className = 'find';
    const order = add(find, 'select', {ariaLabel: `Sort table ${number + 1}, ${named}, by`});
    add(order, 'option', {textContent: 'sort by', value: ''});
    heads.forEach((head, i) => {
      if (head.textContent) { add(order, 'option', {textContent: head.textContent, value: i}); }
    });
    order.addEventListener('change', () => { if (order.value) { sort(heads[order.value], false); } });
    if (search !== undefined && rows.length > 6) {
      const text = add(find, 'input', {type: 'search', placeholder: search, ariaLabel: search});
      const counts = new Map();
      for (const row of rows) {
        const word = row.querySelector('[data-verdict]')?.dataset.verdict;
        if (word) { counts.set(word, (counts.get(word) || 0) + 1); }
      }
      let chosen = '';
      const buttons = [['', `all ${rows.length}`], ...[...counts].map(([word, n]) => [word, `${n} ${word}`])]
        .map(([word, label]) => add(find, 'button', {type: 'button', textContent: label, value: word}));
      const show = () => {
        for (const row of rows) {
          const word = row.querySelector('[data-verdict]')?.dataset.verdict;
          row.hidden = (chosen && word !== chosen)
            || !row.textContent.toLowerCase().includes(text.value.toLowerCase());
        }
        buttons.forEach(button => button.setAttribute('aria-pressed', button.value === chosen));
      };
      buttons.forEach(button => button.addEventListener('click', () => { chosen = button.value; show(); }));
      text.addEventListener('input', show);
      show();
    }
    box.before(find);
  }
})();
