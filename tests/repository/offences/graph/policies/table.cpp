OpRule listed;
constexpr Row kRows[] = {{"listed", listed}};
