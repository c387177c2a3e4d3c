// Shapes and fills that the charts draw with, many rectangles or a whole area as one element.

// To the size of its element, where that has changed.
function fit(chart) {
  const {clientWidth, clientHeight} = chart.getDom();
  if (chart.getWidth() !== clientWidth || chart.getHeight() !== clientHeight) chart.resize();
}

const tiles = new Map();

// A square of colour and hatch as an image that repeats.
function tileOf({color, hatch}) {
  const dark = isDark();
  const key = `${color} ${hatch} ${dark}`;
  if (tiles.has(key)) return tiles.get(key);
  const scale = Math.max(1, Math.ceil(window.devicePixelRatio || 1));
  const size = 8;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size * scale;
  const draw = canvas.getContext("2d");
  draw.scale(scale, scale);
  draw.fillStyle = color;
  draw.fillRect(0, 0, size, size);
  draw.strokeStyle = draw.fillStyle = "rgba(0, 0, 0, 0.32)";
  draw.lineWidth = 1;
  const line = (x1, y1, x2, y2) => {
    draw.beginPath();
    draw.moveTo(x1, y1);
    draw.lineTo(x2, y2);
    draw.stroke();
  };
  if (hatch === "up" || hatch === "cross") {
    for (const shift of [-size, 0, size]) line(shift, size, shift + size, 0);
  }
  if (hatch === "down" || hatch === "cross") {
    for (const shift of [-size, 0, size]) line(shift, 0, shift + size, size);
  }
  if (hatch === "across") line(0, 4.5, size, 4.5);
  if (hatch === "upright") line(4.5, 0, 4.5, size);
  if (hatch === "dots") {
    for (const [x, y] of [[2, 2], [6, 6]]) {
      draw.beginPath();
      draw.arc(x, y, 1, 0, 2 * Math.PI);
      draw.fill();
    }
  }
  const tile = {canvas, scale, url: canvas.toDataURL()};
  tiles.set(key, tile);
  return tile;
}

// As a fill of ECharts.
function fillOf(appearance) {
  if (appearance.hatch === "none") return appearance.color;
  const {canvas, scale} = tileOf(appearance);
  return {image: canvas, repeat: "repeat", scaleX: 1 / scale, scaleY: 1 / scale};
}

// As a small square of the page.
function swatch(appearance) {
  const {url} = tileOf(appearance);
  return make("span", {class: "swatch", style: `background-image: url(${url})`, "aria-hidden": "true"});
}

// shape.rects: x, y, width, height, over and over.
echarts.graphic.registerShape("tidemarkRects", echarts.graphic.extendShape({
  shape: {rects: []},
  buildPath(path, {rects}) {
    for (let i = 0; i < rects.length; i += 4) {
      path.rect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
    }
  },
}));

// A band between two step functions: at x[i] it goes to top[i] and bottom[i], up to `end`.
echarts.graphic.registerShape("tidemarkBand", echarts.graphic.extendShape({
  shape: {x: [], top: [], bottom: [], end: 0},
  buildPath(path, {x, top, bottom, end}) {
    const count = x.length;
    if (count === 0) return;
    path.moveTo(x[0], top[0]);
    for (let i = 0; i < count; ++i) {
      const next = i + 1 < count ? x[i + 1] : end;
      path.lineTo(next, top[i]);
      if (i + 1 < count) path.lineTo(next, top[i + 1]);
    }
    for (let i = count - 1; i >= 0; --i) {
      const next = i + 1 < count ? x[i + 1] : end;
      path.lineTo(next, bottom[i]);
      path.lineTo(x[i], bottom[i]);
    }
    path.closePath();
  },
}));
