#pragma once
// Files that are whole or not there. The text goes to a new file beside the target, is forced to
// the disk, and then takes the target's name; of a symbolic link, the name of what it leads to. Whatever fails on the way, the target is as it was.
//
// The temporary name is the target's with ".tidemark-PID" behind it. A run that is killed at the
// wrong moment can leave one; it is safe to delete.

#include <string>
#include <string_view>

namespace tidemark::tools {

// Throws UserError: "cannot write 'out/x.json': No space left on device".
void write_file(const std::string& path, std::string_view text);

}  // namespace tidemark::tools
