#include "device/external/keeper_test_main.h"

int main(int argc, char** argv) { return opwright::keep_or_test(argc, argv); }
