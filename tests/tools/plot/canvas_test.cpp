#include "tools/plot/canvas.hpp"

#include <cairo.h>

#include <cstring>
#include <memory>

#include "tests/support/catch.hpp"
#include "tools/plot/style.hpp"

using namespace tidemark::tools::plot;

namespace {

// An inch and a half by an inch: 300 x 200 pixels. A blue square at the top left, a black dot at
// the bottom right, a text between.
Figure sample() {
  Figure figure;
  figure.width = 108;
  figure.height = 72;
  figure.title = "a sample";
  figure.shapes = {
      Area{{{9, 9}, {27, 9}, {27, 27}, {9, 27}}, {{0x00, 0x72, 0xb2}, Hatch::kNone}},
      Area{{{36, 9}, {54, 9}, {54, 27}, {36, 27}}, {{0xe6, 0x9f, 0x00}, Hatch::kCrossed}},
      Marker{{90, 54}, MarkerShape::kCircle, kBlack, 9, true},
      Text{{9, 54}, "peak 8 GB", 8, Anchor::kStart},
  };
  return figure;
}

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;

struct Bytes {
  const std::string* text;
  std::size_t at = 0;
};

cairo_status_t read_on(void* from, unsigned char* to, unsigned int length) {
  auto* bytes = static_cast<Bytes*>(from);
  if (bytes->at + length > bytes->text->size()) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, bytes->text->data() + bytes->at, length);
  bytes->at += length;
  return CAIRO_STATUS_SUCCESS;
}

class Picture {
 public:
  explicit Picture(const std::string& png) : surface_(nullptr, cairo_surface_destroy) {
    Bytes bytes{&png};
    surface_.reset(cairo_image_surface_create_from_png_stream(read_on, &bytes));
    REQUIRE(cairo_surface_status(surface_.get()) == CAIRO_STATUS_SUCCESS);
  }

  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }

  Color at(int x, int y) const {
    const unsigned char* row = cairo_image_surface_get_data(surface_.get()) +
                               y * cairo_image_surface_get_stride(surface_.get());
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, row + 4 * x, 4);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }

  // Pixels of a rectangle that are not white.
  int inked(int left, int top, int right, int bottom) const {
    int count = 0;
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) count += at(x, y) == kWhite ? 0 : 1;
    }
    return count;
  }

 private:
  Surface surface_;
};

}  // namespace

TEST_CASE("a PNG has 200 pixels an inch and its shapes where they belong") {
  const Picture picture(draw(sample(), "png"));
  CHECK(picture.width() == 300);
  CHECK(picture.height() == 200);
  CHECK(picture.at(2, 2) == kWhite);
  // 18 pt are 50 pixels.
  CHECK(picture.at(50, 50) == Color{0x00, 0x72, 0xb2});
  CHECK(picture.at(27, 27) == Color{0x00, 0x72, 0xb2});
  CHECK(picture.at(77, 50) == kWhite);
  CHECK(picture.at(250, 150) == kBlack);
  CHECK(picture.at(270, 150) == kWhite);
}

TEST_CASE("hatched paint shows its colour and lines upon it") {
  const Picture picture(draw(sample(), "png"));
  int plain = 0;
  int lines = 0;
  for (int y = 30; y < 70; ++y) {
    for (int x = 105; x < 145; ++x) {
      (picture.at(x, y) == Color{0xe6, 0x9f, 0x00} ? plain : lines) += 1;
    }
  }
  CHECK(plain > 500);
  CHECK(lines > 200);
}

TEST_CASE("there is a font, so texts leave ink") {
  const Picture picture(draw(sample(), "png"));
  CHECK(picture.inked(25, 125, 150, 155) > 200);
  // Nine letters of 8 pt: between 3 and 8 pt each.
  const double width = font_measure()("peak 8 GB", 8, false);
  CHECK(width > 27);
  CHECK(width < 72);
  CHECK(font_measure()("peak 8 GB", 8, true) > width);
}

TEST_CASE("the same figure gives the same bytes") {
  for (const char* format : {"png", "pdf", "svg"}) {
    INFO(format);
    const std::string once = draw(sample(), format);
    CHECK(once.size() > 500);
    CHECK(once == draw(sample(), format));
  }
}

TEST_CASE("each format begins as it should") {
  CHECK(draw(sample(), "png").starts_with("\x89PNG"));
  CHECK(draw(sample(), "pdf").starts_with("%PDF-1."));
  CHECK(draw(sample(), "svg").starts_with("<?xml"));
}

TEST_CASE("a picture's format is its name's ending") {
  CHECK(picture_format("a/peak.svg") == "svg");
  CHECK(picture_format("peak.v2.pdf") == "pdf");
  CHECK(picture_format("peak.png") == "png");
  CHECK(picture_format("peak.gif").empty());
  CHECK(picture_format("svg").empty());
  CHECK(picture_format(".svg").empty());
  CHECK(picture_format("peaksvg").empty());
}
