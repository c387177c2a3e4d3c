#pragma once
// Documents of dictionaries, lists, text and whole numbers, written as they are told: as JSON, or
// as a pickle that Python reads without any class. Nothing is kept but the text.
//
//   document.dictionary(); document.key("size"); document.number(512); document.end();

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::tools {

class Document {
 public:
  virtual ~Document() = default;
  virtual void dictionary() = 0;  // key() before each value, then end()
  virtual void list() = 0;        // values, then end()
  virtual void end() = 0;         // of the innermost
  virtual void key(std::string_view name) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void number(std::int64_t value) = 0;
  virtual void flag(bool value) = 0;

  // True: the value that remember(id) came after now stands here as well. False: it has to be
  // written out, then remembered. Ids are the caller's.
  virtual bool repeat(std::uint64_t) { return false; }
  virtual void remember(std::uint64_t) {}

  // The whole document; call it once.
  virtual std::string finish() = 0;

  void text_at(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  void number_at(std::string_view name, std::int64_t value) {
    key(name);
    number(value);
  }
};

class JsonDocument final : public Document {
 public:
  void dictionary() override;
  void list() override;
  void end() override;
  void key(std::string_view name) override;
  void text(std::string_view value) override;
  void number(std::int64_t value) override;
  void flag(bool value) override;
  std::string finish() override;

 private:
  void separate();

  std::string out_;
  std::vector<char> open_;  // brackets to be closed
  bool first_ = true;       // nothing stands in the innermost yet
};

// Protocol 2 (PEP 307), which every Python since 2.3 reads. Texts, keys and what is remembered are
// written once.
class PickleDocument final : public Document {
 public:
  PickleDocument();
  void dictionary() override;
  void list() override;
  void end() override;
  void key(std::string_view name) override { text(name); }
  void text(std::string_view value) override;
  void number(std::int64_t value) override;
  void flag(bool value) override;
  bool repeat(std::uint64_t id) override;
  void remember(std::uint64_t id) override;
  std::string finish() override;

 private:
  void bytes(std::uint64_t value, int count);
  void put();
  void get(std::uint32_t slot);

  std::string out_;
  std::vector<char> open_;
  std::uint32_t slots_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::map<std::uint64_t, std::uint32_t> remembered_;
};

}  // namespace tidemark::tools
