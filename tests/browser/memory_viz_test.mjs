// snapshot.pickle in PyTorch's own viewer, the page pytorch.org/memory_viz: every view is drawn, in
// silence, and names what it points at.
//
//   node memory_viz_test.mjs MEMORY_VIZ.JS SNAPSHOT.PICKLE BROWSER
//
// MEMORY_VIZ.JS is torch/utils/viz/MemoryViz.js of PyTorch 2.1 or later. It imports d3 5 from a server;
// here it gets the npm package d3@5 (in NODE_PATH, or where D3 says).

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join} from "node:path";

const require = createRequire(import.meta.url);
const {chromium} = require(process.env.PLAYWRIGHT_CORE ?? "playwright-core");
const d3Folder = dirname(require.resolve(join(process.env.D3 ?? "d3", "package.json")));
const [viewer, snapshot, executablePath] = process.argv.slice(2);

// The viewer, with the d3 that the page has in the place of imports.
const script = readFileSync(viewer, "utf8").replaceAll(/^import (.*) from .*$/gm,
  (_, what) => `const ${what.replace("* as ", "")} = globalThis.d3;`);

const browser = await chromium.launch({executablePath});
const said = [];

async function show(view) {
  const page = await browser.newPage({viewport: {width: 1400, height: 900}});
  page.on("console", (message) => message.type() !== "log" && said.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.stack}`));
  await page.route("**/*", (route) => {
    const {pathname} = new URL(route.request().url());
    return pathname === "/viewer.js" ? route.fulfill({body: script, contentType: "text/javascript"})
      : route.fulfill({body: "<!DOCTYPE html><title>memory_viz</title><body></body>", contentType: "text/html"});
  });
  await page.goto("http://viewer.test/");
  await page.addScriptTag({path: join(d3Folder, "dist", "d3.js")});
  await page.evaluate(async ([base64, name]) => {
    const {add_local_files: add} = await import("/viewer.js");
    add([{name: "snapshot.pickle", base64}], name);
  }, [readFileSync(snapshot).toString("base64"), view]);
  await page.waitForTimeout(500);
  return page;
}

const shapes = (page) => page.evaluate(() => document.querySelectorAll("svg rect, svg polygon, svg path").length);
const told = (page) => page.evaluate(() => [...document.querySelectorAll("pre")].map((pre) => pre.innerText).join("\n"));

const tests = {
  async "tensors over time, each with what made it"() {
    const page = await show("Active Memory Timeline");
    assert.ok(await shapes(page) > 500);
    await page.mouse.move(700, 440);
    await page.waitForTimeout(200);
    assert.match(await told(page), /Size: [\d.]+[KMG]iB .*Total memory used after allocation: /);
    assert.match(await told(page), /(parameters|master_weights|optimizer_state|activations|gradients)/);
  },

  async "segments over time"() {
    assert.ok(await shapes(await show("Active Cached Segment Timeline")) > 100);
  },

  async "the allocator's history, event by event"() {
    const page = await show("Allocator State History");
    assert.ok(await shapes(page) > 500);
    const text = await told(page);
    for (const action of ["alloc  ", "free  "]) assert.ok(text.includes(action), action);
  },

  async "the allocator's settings"() {
    assert.match(await told(await show("Allocator Settings")), /PYTORCH_CUDA_ALLOC_CONF/);
  },
};

let failed = false;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok: ${name}`);
  } catch (error) {
    failed = true;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
await browser.close();
if (said.length > 0) console.log(said.join("\n"));
process.exit(failed || said.length > 0 ? 1 : 0);
