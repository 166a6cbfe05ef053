(() => {
  // Tables: a click on a head sorts, numbers by value, texts by letter, unknown values last.
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
    const key = row => {
      const cell = row.children[head.cellIndex];
      return cell.dataset.sort ?? cell.textContent.trim();
    };
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
