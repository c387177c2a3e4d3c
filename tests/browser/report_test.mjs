// report.html in a real browser, from disk: it loads without a word on the console and without
// asking for anything, and pointing, zooming, choosing, comparing and sorting do what they say.
//
//   node report_test.mjs REPORT BROWSER [--times]
//
// --times prints how long first paint, a zoom and a move of the cursor take, and tests nothing more.

import assert from "node:assert/strict";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const require = createRequire(import.meta.url);
const {chromium} = require(process.env.PLAYWRIGHT_CORE ?? "playwright-core");
const [report, executablePath, ...options] = process.argv.slice(2);

const browser = await chromium.launch({executablePath});
const said = [];

async function open(settings = {}) {
  const page = await browser.newPage({viewport: {width: 1440, height: 1000}, ...settings});
  page.on("console", (message) => {
    // This test reads the canvases.
    if (!message.text().includes("willReadFrequently")) said.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => said.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) said.push(`asks for ${request.url()}`);
  });
  await page.goto(pathToFileURL(report).href);
  await page.waitForFunction(() => document.querySelector("#cursor h3") !== null &&
    document.getElementById("icicle-title").textContent !== "");
  return page;
}

// The window of time that the chart of memory shows.
const windowOf = (page) => page.evaluate(() => {
  const axis = echarts.getInstanceByDom(document.getElementById("memory-chart")).getModel()
    .getComponent("xAxis", 0).axis.scale.getExtent();
  return {from: axis[0], to: axis[1]};
});

const textOf = (page, selector) => page.locator(selector).first().innerText();

// Whether the pixels of a chart are of more than one colour.
const drawn = (page, selector) => page.evaluate((at) => {
  const canvas = document.querySelector(`${at} canvas`);
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colors = new Set();
  for (let i = 0; i < data.length; i += 40) colors.add(`${data[i]} ${data[i + 1]} ${data[i + 2]}`);
  return colors.size;
}, selector);

const tests = {
  async "every chart is drawn"(page) {
    for (const id of ["memory-chart", "time-bars", "tradeoff", "overlay", "icicle", "lifetimes-chart"]) {
      assert.ok(await drawn(page, `#${id}`) > 3, `${id} is empty`);
    }
  },

  async "pointing at the chart tells what there is at that moment"(page) {
    await page.locator("#memory-chart").scrollIntoViewIfNeeded();
    const box = await page.locator("#memory-chart").boundingBox();
    const titles = [];
    for (const share of [0.3, 0.7]) {
      await page.mouse.move(box.x + box.width * share, box.y + 100);
      await page.waitForTimeout(100);
      titles.push(await textOf(page, "#cursor h3"));
      assert.match(await textOf(page, "#cursor .tabs"), /HBM [\d.,]+ [GMk]?B/);
      assert.equal(await page.locator("#cursor .tensors tr").count(), 10);
      assert.ok(await page.locator("#cursor .categories tr").count() > 3);
    }
    assert.notEqual(titles[0], titles[1]);
  },

  async "the categories at the peak add up to the peak"(page) {
    await page.click("#to-peak");
    await page.waitForTimeout(100);
    const sums = await page.evaluate(() => {
      const run = JSON.parse(document.getElementById("data").textContent).runs[0];
      return [run.tiers[0].by_category.reduce((a, b) => a + b, 0), run.tiers[0].peak];
    });
    assert.equal(sums[0], sums[1]);
    const shares = await page.locator("#cursor .categories tr td:nth-child(3)").allInnerTexts();
    const total = shares.reduce((sum, text) => sum + (text.startsWith("<") ? 0 : parseFloat(text)), 0);
    assert.ok(Math.abs(total - 100) < 1, `${total} %`);  // each is rounded to 0.1 %
  },

  async "buttons, wheel and keys zoom, and the whole step comes back"(page) {
    const whole = await windowOf(page);
    await page.click("#zoom-in");
    const near = await windowOf(page);
    const width = ({from, to}) => to - from;
    assert.ok(Math.abs(width(near) / width(whole) - 0.5) < 0.01);
    await page.focus("#memory-chart");
    await page.keyboard.press("+");
    assert.ok(width(await windowOf(page)) < 0.6 * width(near));
    await page.keyboard.press("0");
    assert.deepEqual(await windowOf(page), whole);
    const box = await page.locator("#memory-chart").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 100);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForTimeout(200);
    const wheeled = await windowOf(page);
    assert.ok(width(wheeled) < width(whole));
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 100, box.y + 100, {steps: 5});
    await page.mouse.up();
    await page.waitForTimeout(200);
    assert.ok((await windowOf(page)).from > wheeled.from);
    await page.click("#zoom-all");
    assert.deepEqual(await windowOf(page), whole);
  },

  async "the arrow keys move the cursor, and p finds the peak"(page) {
    await page.focus("#memory-chart");
    await page.keyboard.press("p");
    await page.waitForTimeout(100);
    const peak = await textOf(page, "#cursor h3");
    await page.keyboard.press("ArrowRight");
    await page.waitForTimeout(100);
    assert.notEqual(await textOf(page, "#cursor h3"), peak);
    await page.keyboard.press("p");
    await page.waitForTimeout(100);
    assert.equal(await textOf(page, "#cursor h3"), peak);
  },

  async "choosing a strategy shows that one"(page) {
    const label = await textOf(page, '[data-run="1"]');
    await page.click('[data-run="1"]');
    assert.equal(await page.locator("tr.chosen").count(), 1);
    assert.match(await textOf(page, "tr.chosen"), new RegExp(label.replace(/[^\w ]/g, ".")));
    assert.equal(await page.locator("#strategy").inputValue(), "1");
    await page.selectOption("#strategy", "0");
    assert.notEqual(await textOf(page, "tr.chosen button"), label);
  },

  async "unticked strategies leave the comparison"(page) {
    const shown = () => page.locator("#overlay-legend li").count();
    const before = await shown();
    await page.uncheck('[data-show="0"]');
    assert.equal(await shown(), before - 1);
    await page.check('[data-show="0"]');
    assert.equal(await shown(), before);
    await page.check("#overlay-stacked");
    assert.ok(await drawn(page, "#overlay") > 3);
    await page.uncheck("#overlay-stacked");
  },

  async "a click on a column sorts by it, another the other way"(page) {
    const steps = async () => page.evaluate(() => {
      const {runs} = JSON.parse(document.getElementById("data").textContent);
      return [...document.querySelectorAll("tbody [data-run]")].map((button) => runs[Number(button.dataset.run)].step);
    });
    await page.click('[data-sort="step"]');
    assert.deepEqual(await steps(), (await steps()).toSorted((a, b) => a - b));
    assert.equal(await page.locator('th[aria-sort="ascending"]').count(), 1);
    await page.click('[data-sort="step"]');
    assert.deepEqual(await steps(), (await steps()).toSorted((a, b) => b - a));
    await page.click('[data-sort="number"]');
  },

  async "the icicle is read by keys: beside, into a block, up again"(page) {
    await page.focus("#icicle");
    const told = () => textOf(page, "#icicle-told");
    const press = async (key) => {
      await page.keyboard.press(key);
      return told();
    };
    const category = await press("ArrowRight");
    assert.match(category, /^[a-z ]+, [\d.,]+ [kMG]?B, [\d.]+ %$/);
    const beside = await press("ArrowRight");
    assert.notEqual(beside, category);
    assert.equal(await press("ArrowLeft"), category);
    const layer = await press("ArrowDown");
    assert.match(layer, /^(layer 0|outside the layers), /);
    const tensor = await press("ArrowDown");
    assert.match(tensor, /(made by|there before the step)/);
    assert.equal(await press("ArrowDown"), tensor);
    assert.equal(await press("ArrowUp"), layer);
    assert.equal(await press("ArrowUp"), category);
    await page.keyboard.press("Enter");
    assert.match(await textOf(page, "#icicle-title"), new RegExp(category.split(",")[0]));
    await page.keyboard.press("Escape");
    await page.focus("#memory-chart");
    assert.equal(await page.locator("#icicle-told").textContent(), "");
  },

  async "a block of the icicle opens on a click"(page) {
    await page.locator("#icicle").scrollIntoViewIfNeeded();
    const box = await page.locator("#icicle").boundingBox();
    const before = await textOf(page, "#icicle-title");
    await page.mouse.click(box.x + 120, box.y + 25);
    await page.waitForTimeout(100);
    assert.match(await textOf(page, "#icicle-title"), /click again or Esc: all/);
    await page.focus("#icicle");
    await page.keyboard.press("Escape");
    assert.equal(await textOf(page, "#icicle-title"), before);
  },

  async "themes change the page"(page) {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const auto = await ground();
    await page.click("#theme");
    await page.click("#theme");
    assert.notEqual(await ground(), auto);
    assert.ok(await drawn(page, "#memory-chart") > 3);
    await page.click("#theme");
    assert.equal(await ground(), auto);
  },
};

// Alone: at other sizes nothing sticks out to the side.
async function fits(width, height) {
  const page = await open({viewport: {width, height}, hasTouch: true});
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= width, `${wide} px on a screen of ${width}`);
  await page.close();
}

async function times() {
  const begin = performance.now();
  const page = await open();
  const open_ms = performance.now() - begin;
  const found = await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
    const median = async (action, count = 21) => {
      const all = [];
      for (let i = 0; i < count; ++i) {
        const start = performance.now();
        action(i);
        await frame();
        all.push(performance.now() - start);
      }
      all.sort((a, b) => a - b);
      return {median: all[count >> 1], most: all.at(-1)};
    };
    const chart = document.getElementById("memory-chart");
    const key = (name) => chart.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
    const idle = await median(() => {});
    key("p");
    const zoom = await median((i) => key(i % 10 === 9 ? "0" : "+"));
    key("0");
    const cursor = await median(() => key("ArrowRight"));
    return {paint, idle, zoom, cursor, events: JSON.parse(document.getElementById("data").textContent).runs.map((run) => run.events)};
  });
  const text = ({median, most}) => `${median.toFixed(0)} ms (at most ${most.toFixed(0)})`;
  console.log(`events: ${found.events.join(", ")}`);
  console.log(`open to interactive: ${open_ms.toFixed(0)} ms, first contentful paint ${found.paint?.toFixed(0)} ms`);
  console.log(`an idle frame: ${text(found.idle)}; zoom redraw: ${text(found.zoom)}; cursor: ${text(found.cursor)}`);
  await page.close();
}

let failed = 0;
async function attempt(name, test) {
  const before = said.length;
  try {
    await test();
    assert.deepEqual(said.slice(before), [], "said on the console");
    console.log(`ok: ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}

try {
  if (options.includes("--times")) {
    await times();
  } else {
    let page;
    await attempt("loads from disk without a word", async () => {
      page = await open();
    });
    for (const [name, test] of Object.entries(tests)) await attempt(name, () => test(page));
    await attempt("fits a phone", () => fits(360, 740));
    await attempt("fits a tablet", () => fits(820, 1100));
  }
} finally {
  await browser.close();
}
process.exit(failed === 0 ? 0 : 1);
