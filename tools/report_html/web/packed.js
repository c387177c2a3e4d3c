// Reads what tools/report_html/packed.cpp has written: columns of whole numbers in base64.

function bytesOfBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

class ByteReader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  // Whole numbers up to 2^53: by multiplication, for shifts have 32 bits.
  number() {
    let value = 0;
    for (let factor = 1;; factor *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  signed() {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  take(count) {
    const part = this.bytes.subarray(this.at, this.at + count);
    this.at += count;
    return part;
  }
}

// Takes back the repetitions.
function unpackedBytes(bytes) {
  const from = new ByteReader(bytes);
  const out = new Uint8Array(from.number());
  for (let at = 0;;) {
    const plain = from.take(from.number());
    out.set(plain, at);
    at += plain.length;
    const length = from.number();
    if (length === 0) return out;
    const back = from.number();
    // Byte by byte: a repetition may reach into itself.
    for (let i = 0; i < length; ++i, ++at) out[at] = out[at - back];
  }
}

class PackedColumns {
  constructor(base64) {
    this.from = new ByteReader(unpackedBytes(bytesOfBase64(base64)));
  }

  column() {
    const count = this.from.number();
    const column = new Float64Array(count);
    if (this.from.number() === 0) {
      for (let i = 0; i < count; ++i) column[i] = this.from.signed();
      return column;
    }
    const values = new Float64Array(this.from.number());
    for (let i = 0; i < values.length; ++i) values[i] = this.from.signed();
    for (let i = 0; i < count; ++i) column[i] = values[this.from.number()];
    return column;
  }

  // Of a column of differences.
  sums() {
    const column = this.column();
    for (let i = 1; i < column.length; ++i) column[i] += column[i - 1];
    return column;
  }

  text() {
    return new TextDecoder().decode(this.from.take(this.from.number()));
  }
}
