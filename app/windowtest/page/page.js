'use strict';
// A stand-in for the real page in tests of the window alone: it keeps to the
// same agreement and writes down what it is told.
const call = async (name, args) => JSON.parse(await window.go.app.App.Call(name, JSON.stringify(args ?? {})));
window.call = call;
window.seen = { shapes: [], links: [], news: [], keys: [] };
window.runtime.EventsOn('steward:shape', (s) => {
  window.seen.shapes.push(s);
  document.body.className = [s.shape, 'x-' + s.inside.x, 'y-' + s.inside.y, s.compositor ? 'clear' : 'plain'].join(' ');
});
window.runtime.EventsOn('steward:link', (l) => window.seen.links.push(l));
window.runtime.EventsOn('steward:event', (e) => {
  window.seen.news.push({ ...e, at: Date.now() });
  if (e.type === 'ledger') document.getElementById('orb').style.background = ['#14161a', '#ddaa4b'][e.data.last_id % 2];
});

// Over 4 px of travel is a drag, less is a click.
const grip = (element, click) => {
  let from = null;
  element.addEventListener('pointerdown', (e) => { if (e.button === 0) from = [e.screenX, e.screenY]; });
  window.addEventListener('pointermove', (e) => {
    if (from && e.buttons & 1 && Math.hypot(e.screenX - from[0], e.screenY - from[1]) > 4) {
      from = null;
      window.WailsInvoke('drag');
    }
  });
  element.addEventListener('pointerup', () => { if (from) click(); from = null; });
};
const orb = document.getElementById('orb');
grip(orb, () => call('window.open'));
grip(document.getElementById('head'), () => {});
document.getElementById('fold').addEventListener('click', () => call('window.fold'));
document.getElementById('open').addEventListener('click', () => call('window.open'));
document.getElementById('quit').addEventListener('click', () => call('window.quit'));
orb.addEventListener('contextmenu', (e) => { e.preventDefault(); call('window.menu'); });
window.addEventListener('keydown', (e) => {
  window.seen.keys.push(e.key);
  if (e.key === 'Escape') call('window.fold');
});
call('window.ready').then((r) => { window.ready = r; });
