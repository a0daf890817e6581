// Opens the pages that viewer_test.sh made and uses them as a reader does: node viewer_test.mjs FOLDER
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const folder = path.resolve(process.argv[2]);
const {chromium} = createRequire(path.join(folder, 'package.json'))('playwright-core');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu']});

let page;
let complaints = [];  // console errors, exceptions, requests beyond the page itself

async function open(name, scheme = 'light') {
  complaints = [];
  await page?.close();
  page = await browser.newPage({viewport: {width: 1440, height: 860}, colorScheme: scheme});
  page.on('console', message => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', error => complaints.push(`exception: ${error.message}`));
  page.on('request', request => { if (!request.url().endsWith(`${name}.html`)) complaints.push(`request: ${request.url()}`); });
  await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
  await settle();
}

const settle = () => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
const shot = name => page.screenshot({path: path.join(folder, `${name}.png`)});
const textOf = selector => page.locator(selector).innerText();
const view = () => page.evaluate(() => arenacViewer.state.view);
const pinned = () => page.evaluate(() => arenacViewer.state.pinned?.id ?? null);
const mapOf = () => page.evaluate(() => JSON.parse(document.getElementById('map').textContent));

// Waits for the end of a glide.
async function still() {
  for (let before = null, now = await view(); JSON.stringify(before) !== JSON.stringify(now);) {
    await page.waitForTimeout(250);
    [before, now] = [now, await view()];
  }
}

async function centreOf(id) {
  const stage = await page.locator('#overlay').boundingBox();
  const r = await page.evaluate(id => arenacViewer.rectangleOf(id), id);
  return {x: stage.x + r.x + r.w / 2, y: stage.y + r.y + r.h / 2, w: r.w, h: r.h};
}

async function pointAt(id) {
  const {x, y} = await centreOf(id);
  await page.mouse.move(x, y);
  await settle();
}

// The first step at which most bytes are in use, from the buffers alone; these maps have no overlaps.
function peakOf(map, pool) {
  const buffers = map.buffers.filter(b => b.pool === pool);
  const sums = map.steps.map((_, t) => buffers.reduce((sum, b) => sum + (b.begin <= t && t < b.end ? b.size : 0), 0));
  const bytes = Math.max(...sums);
  return {time: sums.indexOf(bytes), bytes};
}

const colours = () => page.evaluate(() => {
  const canvas = document.getElementById('base'), {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen.values()].filter(count => count > 300).length;
});

const tests = {
  async 'draws every size of map, in light and dark, without a complaint'() {
    for (const [scheme, names] of [['light', ['small', '8', '60', '500']], ['dark', ['small', '60']]]) {
      for (const name of names) {
        await open(name, scheme);
        assert.ok(await colours() >= 4, `${name}: nothing drawn`);
        await shot(`${name}-${scheme}`);
        assert.deepEqual(complaints, []);
      }
    }
    const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({colorScheme: 'light'});
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  },

  async 'states size, bound and peak'() {
    await open('500');
    const map = await mapOf(), peak = peakOf(map, 'arena');
    assert.equal(await page.evaluate(() => arenacViewer.state.time), peak.time);
    assert.match(await textOf('#list-title'), new RegExp(`^At the peak, step ${peak.time}: `));
    assert.match(await textOf('#facts'), new RegExp(`${map.totals.arena.toLocaleString('en-US')} bytes`));
    const alive = map.buffers.filter(b => b.pool === 'arena' && b.begin <= peak.time && peak.time < b.end);
    assert.equal(await page.locator('#list button').count(), Math.min(alive.length, 100));
    const largest = alive.reduce((a, b) => (b.size > a.size ? b : a));
    assert.match(await page.locator('#list button').first().innerText(), new RegExp(largest.name));
  },

  async 'hovering tells what lies there'() {
    await open('500');
    const map = await mapOf();
    let seen = 0;
    for (const b of map.buffers.filter(b => b.pool === 'arena')) {
      const {w, h} = await centreOf(b.id);
      if (w < 4 || h < 4) continue;
      await pointAt(b.id);
      const text = await textOf('#tooltip');
      for (const part of [b.name, b.tensors[0], b.size.toLocaleString('en-US'), `[${b.begin}, ${b.end})`, `0x${b.offset.toString(16)}`]) {
        assert.ok(text.includes(part), `${b.name}: no '${part}' in ${text}`);
      }
      if (++seen === 60) break;
    }
    assert.ok(seen >= 40, `only ${seen} buffers large enough`);
    await shot('500-hover');
    await page.mouse.move(5, 5);
    await settle();
    assert.ok(await page.locator('#tooltip').isHidden());
    assert.deepEqual(complaints, []);
  },

  async 'clicking keeps a buffer, Escape lets go'() {
    await open('60');
    const map = await mapOf(), b = map.buffers.find(b => b.pool === 'arena' && b.size > 8000);
    const {x, y} = await centreOf(b.id);
    await page.mouse.click(x, y);
    assert.equal(await pinned(), b.id);
    await page.mouse.move(5, 5);
    assert.ok((await textOf('#selection')).includes(b.name));
    await page.keyboard.press('Escape');
    assert.equal(await pinned(), null);
    await page.locator('#list button').first().click();
    assert.equal(await pinned(), Number(await page.locator('#list button').first().getAttribute('data-id')));
  },

  async 'clicking into the curve lists a step'() {
    await open('60');
    const stage = await page.locator('#overlay').boundingBox();
    await page.mouse.click(stage.x + 80, stage.y + stage.height - 20);
    assert.match(await textOf('#list-title'), /^At step 0: /);
  },

  async 'search highlights, counts, lists and walks through matches'() {
    await open('500');
    const map = await mapOf();
    const matches = map.buffers.filter(b => b.pool === 'arena' && /maxpool/i.test(b.name) && /block1/.test(b.name));
    await page.keyboard.press('/');
    await page.keyboard.type('MaxPool block1');
    await settle();
    assert.equal(await textOf('#count'), `${matches.length} of ${map.buffers.filter(b => b.pool === 'arena').length}`);
    assert.equal(await page.locator('#list button').count(), matches.length);
    await shot('500-search');
    await page.keyboard.press('Enter');
    assert.equal(await pinned(), matches[0].id);
    await page.keyboard.press('Enter');
    assert.equal(await pinned(), matches[1].id);
    await page.keyboard.press('Escape');
    assert.equal(await textOf('#count'), '');
    await page.fill('#search', 'no such tensor');
    assert.match(await textOf('#count'), /^0 of/);
  },

  async 'tabs change the pool'() {
    await open('500');
    const map = await mapOf();
    assert.equal(await page.locator('#pools button').count(), 2);
    await page.locator('#pools button').nth(1).click();
    const peak = peakOf(map, 'fast');
    assert.match(await textOf('#list-title'), new RegExp(`^At the peak, step ${peak.time}: `));
    await page.fill('#search', 'block');
    assert.match(await textOf('#count'), new RegExp(`of ${map.buffers.filter(b => b.pool === 'fast').length}$`));
    await shot('500-fast');
    await page.locator('#pools button').first().click();
    assert.equal(await page.locator('#pools button').first().getAttribute('aria-selected'), 'true');
  },

  async 'wheel, drag and keys move the view'() {
    await open('500');
    const whole = await view(), span = v => v.t1 - v.t0;
    const stage = await page.locator('#overlay').boundingBox();
    const x = stage.x + stage.width / 2, y = stage.y + stage.height / 3;
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -400);
    await settle();
    const near = await view();
    assert.ok(span(near) < span(whole) && near.a1 - near.a0 < whole.a1 - whole.a0);
    await page.mouse.down();
    await page.mouse.move(x - 100, y, {steps: 5});
    await page.mouse.up();
    const moved = await view();
    assert.ok(moved.t0 > near.t0 && Math.abs(span(moved) - span(near)) < 1e-6);
    assert.equal(await pinned(), null, 'a drag is no click');
    await page.mouse.move(stage.x + 20, y);
    await page.mouse.wheel(0, -400);
    const tall = await view();
    assert.ok(Math.abs(span(tall) - span(moved)) < 1e-6 && tall.a1 - tall.a0 < moved.a1 - moved.a0, 'the axis zooms alone');
    await page.keyboard.press('0');
    await still();
    assert.deepEqual(await view(), whole);
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowRight');
    assert.ok(span(await view()) < span(whole));
    await page.keyboard.press('p');
    await still();
    assert.ok(span(await view()) <= 26);
    await shot('500-peak');
    await page.keyboard.press('?');
    assert.ok(await page.locator('#keys').isVisible());
    for (let i = 0; i < 30; ++i) await page.keyboard.press('-');
    assert.deepEqual(await view(), whole, 'no further out than everything');
    assert.deepEqual(complaints, []);
  },

  async 'colours by kind too'() {
    await open('500');
    await page.selectOption('#colour', 'kind');
    assert.match(await textOf('#legend'), /activation/);
    assert.deepEqual(complaints, []);
  },

  async 'a buffer belongs to the operator that writes it'() {
    await open('small');
    await pointAt(2);  // lives from step 2 on, written at step 3
    for (const part of [/from\s+store \(Identity\), step 3/, /type\s+float32\[1, 4\]/, /in the C\s+SMALL_AT_2/]) assert.match(await textOf('#tooltip'), part);
    assert.doesNotMatch(await textOf('#tooltip'), /MaxPool|read by/);
    await pointAt(1);
    for (const part of [/from\s+conv \(Conv\), step 1/, /read by\s+pool \(MaxPool\), step 2/, /int8\[1, 4, 48, 4\]/]) assert.match(await textOf('#tooltip'), part);
    assert.deepEqual((await textOf('#legend')).split(/\s+/).sort(), ['Conv', 'Identity', 'input']);
    await page.fill('#search', 'maxpool');
    assert.match(await textOf('#count'), /^0 of 3$/);
    await page.fill('#search', 'identity');
    assert.match(await textOf('#count'), /^1 of 3$/);
    assert.deepEqual(complaints, []);
  },

  async 'shared bytes are told'() {
    await open('small');
    await pointAt(1);
    assert.match(await textOf('#tooltip'), /shares\s+bytes with a/);
    assert.match(await textOf('#tooltip'), /3 of 48 kept/);
  },

  async 'groups, order and the schedules to choose from are shown'() {
    await open('grouped');
    await pointAt(1);
    assert.match(await textOf('#tooltip'), /3 of 48 kept/);
    assert.match(await textOf('#tooltip'), /group\s+g1/);
    assert.match(await textOf('#facts'), /in this order\s+96 bytes file’s order 1\.1K, no order has less/i);
    assert.match(await textOf('#facts'), /Groups\s+1/);
    assert.match(await textOf('#facts'), /Cycles\s+4K\s+estimated, cortex-m4/);
    assert.match(await textOf('#facts'), /Search\s+cut off by --time/);
    assert.match(await textOf('#frontier'), /1,096\s+3K\s+0\s+0\s+0\s+19\.0K\s+64\s+4\.5K\s+600\s+20\.3K\s+2\s+30\.3K/);
    assert.match(await textOf('#marks'), /bytes that two buffers share\s+g1, g2, …: steps that run in turns/);
    assert.equal(await textOf('#tool'), 'made by arenac 0.0.0, --ram 64');
    const table = await page.evaluate(() => {
      const aside = document.querySelector('aside').getBoundingClientRect(), cells = [...document.querySelectorAll('#frontier td')];
      const line = parseFloat(getComputedStyle(cells[0]).lineHeight) || 20;
      return {inside: cells.every(c => c.getBoundingClientRect().right <= aside.right), lines: Math.max(...cells.map(c => c.getBoundingClientRect().height / line))};
    });
    assert.ok(table.inside && table.lines < 1.6, JSON.stringify(table));
    await shot('grouped');
    await open('small');
    assert.equal(await page.locator('#frontier').count(), 0);
    assert.doesNotMatch(await textOf('#facts'), /Groups/);
    assert.deepEqual(complaints, []);
  },

  async 'hostile names stay text'() {
    await open('hostile');
    await pointAt(1);
    assert.ok((await textOf('#tooltip')).includes('</script>'));
    await page.fill('#search', '<img');
    await page.locator('#list button').first().click();
    await page.waitForTimeout(100);
    assert.equal(await page.evaluate(() => globalThis.pwned), undefined);
    assert.equal(await page.locator('img').count(), 0);
    assert.deepEqual(complaints, []);
  },

  async 'an empty map says so'() {
    await open('empty');
    assert.ok(await page.locator('#empty').isVisible());
    await page.mouse.move(400, 400);
    await page.mouse.wheel(0, 100);
    for (const key of ['p', '0', '+', ']', 'n']) await page.keyboard.press(key);
    assert.deepEqual(complaints, []);
  },

  async 'narrow windows stack and hold everything'() {
    for (const name of ['60', '500', 'grouped', 'hostile', 'empty']) {
      await open(name);
      await page.setViewportSize({width: 390, height: 844});
      await settle();
      const stage = await page.locator('#overlay').boundingBox();
      assert.ok(stage.width > 340 && stage.height > 300);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, name);
      for (const id of ['#search', '#help']) {
        const {x, width} = await page.locator(id).boundingBox();
        assert.ok(x >= 0 && x + width <= 390, `${name}: ${id}`);
      }
      await shot(`${name}-narrow`);
      assert.deepEqual(complaints, []);
    }
  },

  async 'everything written can be read'() {
    for (const scheme of ['light', 'dark']) {
      await open('grouped', scheme);
      await page.locator('#list button').first().click();
      const poor = await page.evaluate(() => {
        const numbers = colour => colour.match(/[\d.]+/g).map(Number);
        const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
          .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
        const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => p - q); return (y + .05) / (x + .05); };
        const behind = node => {
          for (let at = node; at; at = at.parentElement) {
            const colour = numbers(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
          }
          return numbers(getComputedStyle(document.body).backgroundColor);
        };
        const found = [];
        for (const node of document.querySelectorAll('body *')) {
          const written = [...node.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.textContent.trim());
          if (!written || !node.checkVisibility?.() || node.closest('script, noscript')) continue;
          const ratio = contrast(numbers(getComputedStyle(node).color), behind(node));
          if (ratio < 4.5) found.push(`${node.tagName}#${node.id}.${node.className} ${ratio.toFixed(2)}`);
        }
        const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
        for (const fill of arenacViewer.palette()) {
          const ratio = contrast(rgb(fill), rgb(arenacViewer.inkOn(fill)));
          if (ratio < 4.5) found.push(`label on ${fill} ${ratio.toFixed(2)}`);
        }
        return found;
      });
      assert.deepEqual(poor, [], scheme);
    }
  },

  async 'ticks are exact and names differ'() {
    await open('60');
    const [ticks, names] = await page.evaluate(() => [
      [[0, 262144], [262144, 262144], [2883584, 262144], [2949120, 65536], [3072, 1024], [640, 64]].map(([a, step]) => arenacViewer.exactBytes(a, step)),
      arenacViewer.toldApart(['/f/a.1/Conv_output_0', '/f/a.2/Conv_output_0'])]);
    assert.deepEqual(ticks, ['0', '256K', '2.75M', '2,880K', '3K', '640']);
    assert.deepEqual(names, ['…a.1/Conv', '…a.2/Conv']);
  },

  async '20,000 buffers answer'() {
    await open('20000');
    const {x, y} = await centreOf(16);  // lasts, so it is seen
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -300);
    await settle();
    await page.fill('#search', 'conv_2');
    assert.match(await textOf('#count'), / of 18,182$/);
    await shot('20000');
    assert.deepEqual(complaints, []);
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
    if (page) await shot('failed').catch(() => {});
  }
}
await browser.close();
console.log(failed ? `${failed} failed` : `all ${Object.keys(tests).length} passed`);
process.exit(failed ? 1 : 0);
