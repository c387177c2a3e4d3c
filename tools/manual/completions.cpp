// Completion scripts. All three walk over the words before the cursor to find which command they
// belong to, then offer what that command takes.

#include <fmt/format.h>

#include <string_view>

#include "tools/manual/command_tree.hpp"

namespace tidemark::tools {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// Between single quotes, for bash and zsh.
std::string in_shell_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Only the first clause: a line of a menu is short.
std::string brief(std::string_view text) {
  return std::string(text.substr(0, std::min(text.find(';'), text.find('\n'))));
}

// `"" "run"` for every command below another: what the walk may step on, as patterns of a case.
std::string steps(const std::vector<ManualCommand>& commands) {
  std::string patterns;
  for (const ManualCommand& command : commands) {
    for (const std::string& name : command.below) {
      patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", command.path, name);
    }
  }
  return patterns;
}

// A `case` for options that take a value: `choices(option)` or `files` is what then happens.
template <class Choices>
std::string value_cases(const std::vector<ManualCommand>& commands, std::string_view files,
                        Choices choices) {
  std::string out;
  for (const ManualCommand& command : commands) {
    for (const ManualOption& option : command.options) {
      if (option.names.empty() || option.value.empty()) continue;
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", command.path, name);
      }
      std::string action = "return";
      if (!option.choices.empty()) {
        action = choices(option) + "; return";
      } else if (option.is_file) {
        action = std::string(files) + "; return";
      }
      out += fmt::format("    {}) {} ;;\n", patterns, action);
    }
  }
  return out;
}

struct Positionals {
  std::vector<std::string> choices;
  bool files = false;
};

Positionals positionals_of(const ManualCommand& command) {
  Positionals out;
  for (const ManualOption& option : command.options) {
    if (!option.names.empty()) continue;
    out.choices.insert(out.choices.end(), option.choices.begin(), option.choices.end());
    out.files = out.files || option.is_file;
  }
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<ManualCommand>& commands) {
  std::string out = fmt::format(
      R"(# Completion of tidemark for bash, made by `tidemark completion bash`.
_tidemark() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at= i words= files= before=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in
    {}) at="${{at:+$at }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$at $prev" in
{}  esac
  case "$at" in
)",
      steps(commands),
      value_cases(commands, "COMPREPLY=($(compgen -f -- \"$cur\"))",
                  [](const ManualOption& option) {
                    const std::string words = in_shell_quotes(joined(option.choices, " "));
                    if (option.is_list) {
                      return fmt::format(
                          "[[ $cur != *,* ]] || before=${{cur%,*}},; "
                          "COMPREPLY=($(compgen -P \"$before\" -W {} -- \"${{cur##*,}}\"))",
                          words);
                    }
                    return fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))", words);
                  }));
  for (const ManualCommand& command : commands) {
    std::vector<std::string> words = command.below;
    for (const ManualOption& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
    }
    const Positionals positionals = positionals_of(command);
    words.insert(words.end(), positionals.choices.begin(), positionals.choices.end());
    out += fmt::format("    \"{}\") words={}{} ;;\n", command.path,
                       in_shell_quotes(joined(words, " ")), positionals.files ? " files=1" : "");
  }
  return out + R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ -z $files ]] || COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _tidemark tidemark
)";
}

std::string zsh_completion(const std::vector<ManualCommand>& commands) {
  std::string out = fmt::format(
      R"(#compdef tidemark
# Completion of tidemark for zsh, made by `tidemark completion zsh`.
_tidemark() {{
  local at= word files=
  local -a names options values
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $word" in
    {}) at="${{at:+$at }}$word" ;;
    esac
  done
  case "$at ${{words[CURRENT-1]}}" in
{}  esac
  case "$at" in
)",
      steps(commands), value_cases(commands, "_files", [](const ManualOption& option) {
        return (option.is_list ? "compset -P '*,'; compadd -- " : "compadd -- ") +
               joined(option.choices, " ");
      }));
  const auto described = [](std::string name, const std::string& text) {
    std::string escaped;
    for (const char c : brief(text)) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
    return in_shell_quotes(name + ":" + escaped);
  };
  for (const ManualCommand& command : commands) {
    out += fmt::format("    \"{}\")\n", command.path);
    if (!command.below.empty()) {
      out += "      names=(";
      for (const ManualCommand& each : commands) {
        const std::size_t last = each.path.rfind(' ');
        const std::string parent = last == std::string::npos ? "" : each.path.substr(0, last);
        if (each.path.empty() || parent != command.path) continue;
        const std::string name = last == std::string::npos ? each.path : each.path.substr(last + 1);
        out += "\n        " + described(name, each.text);
      }
      out += ")\n";
    }
    out += "      options=(";
    for (const ManualOption& option : command.options) {
      for (const std::string& name : option.names)
        out += "\n        " + described(name, option.text);
    }
    out += ")\n";
    const Positionals positionals = positionals_of(command);
    if (!positionals.choices.empty()) {
      out += "      values=(" + joined(positionals.choices, " ") + ")\n";
    }
    if (positionals.files) out += "      files=1\n";
    out += "      ;;\n";
  }
  return out + R"(  esac
  (( $#names )) && _describe command names
  (( $#values )) && compadd -- $values
  [[ ${words[CURRENT]} == -* ]] && _describe -o option options
  [[ -n $files ]] && _files
  return 0
}
_tidemark "$@"
)";
}

std::string fish_completion(const std::vector<ManualCommand>& commands) {
  const auto quoted = [](std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
    return out + "'";
  };
  std::string walk;
  for (const ManualCommand& command : commands) {
    for (const std::string& name : command.below) {
      walk += " " + quoted(command.path + " " + name);
    }
  }
  std::string out = fmt::format(
      R"(# Completion of tidemark for fish, made by `tidemark completion fish`.
function __tidemark_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case{}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
function __tidemark_list
  set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '^.*,')
  for word in $argv
    echo "$before$word"
  end
end
complete -c tidemark -f
)",
      walk);
  for (const ManualCommand& command : commands) {
    const std::string head =
        fmt::format("complete -c tidemark -n \"__tidemark_at '{}'\"", command.path);
    for (const ManualCommand& each : commands) {
      const std::size_t last = each.path.rfind(' ');
      const std::string parent = last == std::string::npos ? "" : each.path.substr(0, last);
      if (each.path.empty() || parent != command.path) continue;
      const std::string name = last == std::string::npos ? each.path : each.path.substr(last + 1);
      out += fmt::format("{} -a {} -d {}\n", head, name, quoted(brief(each.text)));
    }
    for (const ManualOption& option : command.options) {
      if (option.names.empty()) continue;
      std::string line = head;
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        line += fmt::format(" {} {}", is_long ? "-l" : "-s", name.substr(is_long ? 2 : 1));
      }
      if (!option.value.empty()) line += option.is_file ? " -r -F" : " -x";
      if (!option.choices.empty()) {
        const std::string words = joined(option.choices, " ");
        line += " -a " + quoted(option.is_list ? "(__tidemark_list " + words + ")" : words);
      }
      out += fmt::format("{} -d {}\n", line, quoted(brief(option.text)));
    }
    const Positionals positionals = positionals_of(command);
    if (!positionals.choices.empty()) {
      out += fmt::format("{} -a {}\n", head, quoted(joined(positionals.choices, " ")));
    }
    if (positionals.files) out += head + " -F\n";
  }
  return out;
}

}  // namespace tidemark::tools
