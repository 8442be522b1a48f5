// The C++ tests' own model of the operators and casts: the result of each operator for each pair of edge values, computed with unbounded
// integers from the sentences of docs/semantics.md, Operators, and the operator document. It shares nothing with ops.def, which it
// checks. Rows stand in the order of the operators' numbers in the binary form (wire_test.cpp), so a new row goes to the end.
#pragma once

#include <array>
#include <cstdint>

#include "vyre/ir/ops.hpp"

namespace vyre::test {

inline constexpr std::array<std::uint32_t, 8> kEdges = {0, 1, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};

struct ExpectedBinary {
  ir::BinOp op;
  std::uint32_t result[8][8];  // [left][right]
};
struct ExpectedUnary {
  ir::UnOp op;
  std::uint32_t result[8];
};
struct ExpectedCast {
  ir::DataType source, target;
  std::array<std::uint32_t, 4> from, to;  // lanes
};

// clang-format off
inline constexpr ExpectedBinary kExpectedBinary[] = {
  {ir::BinOp::Add, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          2,         32,         33,         34, 0x80000000, 0x80000001,          0},
    {        31,         32,         62,         63,         64, 0x8000001E, 0x8000001F,         30},
    {        32,         33,         63,         64,         65, 0x8000001F, 0x80000020,         31},
    {        33,         34,         64,         65,         66, 0x80000020, 0x80000021,         32},
    {0x7FFFFFFF, 0x80000000, 0x8000001E, 0x8000001F, 0x80000020, 0xFFFFFFFE, 0xFFFFFFFF, 0x7FFFFFFE},
    {0x80000000, 0x80000001, 0x8000001F, 0x80000020, 0x80000021, 0xFFFFFFFF,          0, 0x7FFFFFFF},
    {0xFFFFFFFF,          0,         30,         31,         32, 0x7FFFFFFE, 0x7FFFFFFF, 0xFFFFFFFE}}},
  {ir::BinOp::Sub, {
    {         0, 0xFFFFFFFF, 0xFFFFFFE1, 0xFFFFFFE0, 0xFFFFFFDF, 0x80000001, 0x80000000,          1},
    {         1,          0, 0xFFFFFFE2, 0xFFFFFFE1, 0xFFFFFFE0, 0x80000002, 0x80000001,          2},
    {        31,         30,          0, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000020, 0x8000001F,         32},
    {        32,         31,          1,          0, 0xFFFFFFFF, 0x80000021, 0x80000020,         33},
    {        33,         32,          2,          1,          0, 0x80000022, 0x80000021,         34},
    {0x7FFFFFFF, 0x7FFFFFFE, 0x7FFFFFE0, 0x7FFFFFDF, 0x7FFFFFDE,          0, 0xFFFFFFFF, 0x80000000},
    {0x80000000, 0x7FFFFFFF, 0x7FFFFFE1, 0x7FFFFFE0, 0x7FFFFFDF,          1,          0, 0x80000001},
    {0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFE0, 0xFFFFFFDF, 0xFFFFFFDE, 0x80000000, 0x7FFFFFFF,          0}}},
  {ir::BinOp::Mul, {
    {0,          0,          0,          0,          0,          0,          0,          0},
    {0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0,         31, 0x000003C1, 0x000003E0, 0x000003FF, 0x7FFFFFE1, 0x80000000, 0xFFFFFFE1},
    {0,         32, 0x000003E0, 0x00000400, 0x00000420, 0xFFFFFFE0,          0, 0xFFFFFFE0},
    {0,         33, 0x000003FF, 0x00000420, 0x00000441, 0x7FFFFFDF, 0x80000000, 0xFFFFFFDF},
    {0, 0x7FFFFFFF, 0x7FFFFFE1, 0xFFFFFFE0, 0x7FFFFFDF,          1, 0x80000000, 0x80000001},
    {0, 0x80000000, 0x80000000,          0, 0x80000000, 0x80000000,          0, 0x80000000},
    {0, 0xFFFFFFFF, 0xFFFFFFE1, 0xFFFFFFE0, 0xFFFFFFDF, 0x80000001, 0x80000000,          1}}},
  {ir::BinOp::Div, {
    {0,          0,          0,          0,          0, 0, 0, 0},
    {0,          1,          0,          0,          0, 0, 0, 0},
    {0,         31,          1,          0,          0, 0, 0, 0},
    {0,         32,          1,          1,          0, 0, 0, 0},
    {0,         33,          1,          1,          1, 0, 0, 0},
    {0, 0x7FFFFFFF, 0x04210842, 0x03FFFFFF, 0x03E0F83E, 1, 0, 0},
    {0, 0x80000000, 0x04210842, 0x04000000, 0x03E0F83E, 1, 1, 0},
    {0, 0xFFFFFFFF, 0x08421084, 0x07FFFFFF, 0x07C1F07C, 2, 1, 1}}},
  {ir::BinOp::Mod, {
    {0, 0, 0,  0,  0,  0,          0,          0},
    {0, 0, 1,  1,  1,  1,          1,          1},
    {0, 0, 0, 31, 31, 31,         31,         31},
    {0, 0, 1,  0, 32, 32,         32,         32},
    {0, 0, 2,  1,  0, 33,         33,         33},
    {0, 0, 1, 31,  1,  0, 0x7FFFFFFF, 0x7FFFFFFF},
    {0, 0, 2,  0,  2,  1,          0, 0x80000000},
    {0, 0, 3, 31,  3,  1, 0x7FFFFFFF,          0}}},
  {ir::BinOp::BitAnd, {
    {0, 0,  0,  0,  0,          0,          0,          0},
    {0, 1,  1,  0,  1,          1,          0,          1},
    {0, 1, 31,  0,  1,         31,          0,         31},
    {0, 0,  0, 32, 32,         32,          0,         32},
    {0, 1,  1, 32, 33,         33,          0,         33},
    {0, 1, 31, 32, 33, 0x7FFFFFFF,          0, 0x7FFFFFFF},
    {0, 0,  0,  0,  0,          0, 0x80000000, 0x80000000},
    {0, 1, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF}}},
  {ir::BinOp::BitOr, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          1,         31,         33,         33, 0x7FFFFFFF, 0x80000001, 0xFFFFFFFF},
    {        31,         31,         31,         63,         63, 0x7FFFFFFF, 0x8000001F, 0xFFFFFFFF},
    {        32,         33,         63,         32,         33, 0x7FFFFFFF, 0x80000020, 0xFFFFFFFF},
    {        33,         33,         63,         33,         33, 0x7FFFFFFF, 0x80000021, 0xFFFFFFFF},
    {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF},
    {0x80000000, 0x80000001, 0x8000001F, 0x80000020, 0x80000021, 0xFFFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::BitXor, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          0,         30,         33,         32, 0x7FFFFFFE, 0x80000001, 0xFFFFFFFE},
    {        31,         30,          0,         63,         62, 0x7FFFFFE0, 0x8000001F, 0xFFFFFFE0},
    {        32,         33,         63,          0,          1, 0x7FFFFFDF, 0x80000020, 0xFFFFFFDF},
    {        33,         32,         62,          1,          0, 0x7FFFFFDE, 0x80000021, 0xFFFFFFDE},
    {0x7FFFFFFF, 0x7FFFFFFE, 0x7FFFFFE0, 0x7FFFFFDF, 0x7FFFFFDE,          0, 0xFFFFFFFF, 0x80000000},
    {0x80000000, 0x80000001, 0x8000001F, 0x80000020, 0x80000021, 0xFFFFFFFF,          0, 0x7FFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFE0, 0xFFFFFFDF, 0xFFFFFFDE, 0x80000000, 0x7FFFFFFF,          0}}},
  {ir::BinOp::Shl, {
    {         0,          0,          0,          0,          0,          0,          0,          0},
    {         1,          2, 0x80000000,          1,          2, 0x80000000,          1, 0x80000000},
    {        31,         62, 0x80000000,         31,         62, 0x80000000,         31, 0x80000000},
    {        32,         64,          0,         32,         64,          0,         32,          0},
    {        33,         66, 0x80000000,         33,         66, 0x80000000,         33, 0x80000000},
    {0x7FFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0x80000000},
    {0x80000000,          0,          0, 0x80000000,          0,          0, 0x80000000,          0},
    {0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0xFFFFFFFF, 0x80000000}}},
  {ir::BinOp::Shr, {
    {         0,          0, 0,          0,          0, 0,          0, 0},
    {         1,          0, 0,          1,          0, 0,          1, 0},
    {        31,         15, 0,         31,         15, 0,         31, 0},
    {        32,         16, 0,         32,         16, 0,         32, 0},
    {        33,         16, 0,         33,         16, 0,         33, 0},
    {0x7FFFFFFF, 0x3FFFFFFF, 0, 0x7FFFFFFF, 0x3FFFFFFF, 0, 0x7FFFFFFF, 0},
    {0x80000000, 0x40000000, 1, 0x80000000, 0x40000000, 1, 0x80000000, 1},
    {0xFFFFFFFF, 0x7FFFFFFF, 1, 0xFFFFFFFF, 0x7FFFFFFF, 1, 0xFFFFFFFF, 1}}},
  {ir::BinOp::RotateLeft, {
    {         0,          0,          0,          0,          0,          0,          0,          0},
    {         1,          2, 0x80000000,          1,          2, 0x80000000,          1, 0x80000000},
    {        31,         62, 0x8000000F,         31,         62, 0x8000000F,         31, 0x8000000F},
    {        32,         64,         16,         32,         64,         16,         32,         16},
    {        33,         66, 0x80000010,         33,         66, 0x80000010,         33, 0x80000010},
    {0x7FFFFFFF, 0xFFFFFFFE, 0xBFFFFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xBFFFFFFF, 0x7FFFFFFF, 0xBFFFFFFF},
    {0x80000000,          1, 0x40000000, 0x80000000,          1, 0x40000000, 0x80000000, 0x40000000},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::RotateRight, {
    {         0,          0,          0,          0,          0,          0,          0,          0},
    {         1, 0x80000000,          2,          1, 0x80000000,          2,          1,          2},
    {        31, 0x8000000F,         62,         31, 0x8000000F,         62,         31,         62},
    {        32,         16,         64,         32,         16,         64,         32,         64},
    {        33, 0x80000010,         66,         33, 0x80000010,         66,         33,         66},
    {0x7FFFFFFF, 0xBFFFFFFF, 0xFFFFFFFE, 0x7FFFFFFF, 0xBFFFFFFF, 0xFFFFFFFE, 0x7FFFFFFF, 0xFFFFFFFE},
    {0x80000000, 0x40000000,          1, 0x80000000, 0x40000000,          1, 0x80000000,          1},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::MulHigh, {
    {0, 0,  0,  0,  0,          0,          0,          0},
    {0, 0,  0,  0,  0,          0,          0,          0},
    {0, 0,  0,  0,  0,         15,         15,         30},
    {0, 0,  0,  0,  0,         15,         16,         31},
    {0, 0,  0,  0,  0,         16,         16,         32},
    {0, 0, 15, 15, 16, 0x3FFFFFFF, 0x3FFFFFFF, 0x7FFFFFFE},
    {0, 0, 15, 16, 16, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF},
    {0, 0, 30, 31, 32, 0x7FFFFFFE, 0x7FFFFFFF, 0xFFFFFFFE}}},
  {ir::BinOp::AbsDiff, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          0,         30,         31,         32, 0x7FFFFFFE, 0x7FFFFFFF, 0xFFFFFFFE},
    {        31,         30,          0,          1,          2, 0x7FFFFFE0, 0x7FFFFFE1, 0xFFFFFFE0},
    {        32,         31,          1,          0,          1, 0x7FFFFFDF, 0x7FFFFFE0, 0xFFFFFFDF},
    {        33,         32,          2,          1,          0, 0x7FFFFFDE, 0x7FFFFFDF, 0xFFFFFFDE},
    {0x7FFFFFFF, 0x7FFFFFFE, 0x7FFFFFE0, 0x7FFFFFDF, 0x7FFFFFDE,          0,          1, 0x80000000},
    {0x80000000, 0x7FFFFFFF, 0x7FFFFFE1, 0x7FFFFFE0, 0x7FFFFFDF,          1,          0, 0x7FFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFE0, 0xFFFFFFDF, 0xFFFFFFDE, 0x80000000, 0x7FFFFFFF,          0}}},
  {ir::BinOp::Min, {
    {0, 0,  0,  0,  0,          0,          0,          0},
    {0, 1,  1,  1,  1,          1,          1,          1},
    {0, 1, 31, 31, 31,         31,         31,         31},
    {0, 1, 31, 32, 32,         32,         32,         32},
    {0, 1, 31, 32, 33,         33,         33,         33},
    {0, 1, 31, 32, 33, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF},
    {0, 1, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000000},
    {0, 1, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF}}},
  {ir::BinOp::Max, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {        31,         31,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {        32,         32,         32,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {        33,         33,         33,         33,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0xFFFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::Eq, {
    {1, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 0, 0, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0, 0, 0},
    {0, 0, 0, 1, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 0, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 0, 1}}},
  {ir::BinOp::Ne, {
    {0, 1, 1, 1, 1, 1, 1, 1},
    {1, 0, 1, 1, 1, 1, 1, 1},
    {1, 1, 0, 1, 1, 1, 1, 1},
    {1, 1, 1, 0, 1, 1, 1, 1},
    {1, 1, 1, 1, 0, 1, 1, 1},
    {1, 1, 1, 1, 1, 0, 1, 1},
    {1, 1, 1, 1, 1, 1, 0, 1},
    {1, 1, 1, 1, 1, 1, 1, 0}}},
  {ir::BinOp::Lt, {
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 1},
    {0, 0, 0, 0, 0, 0, 0, 0}}},
  {ir::BinOp::Gt, {
    {0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0},
    {1, 1, 0, 0, 0, 0, 0, 0},
    {1, 1, 1, 0, 0, 0, 0, 0},
    {1, 1, 1, 1, 0, 0, 0, 0},
    {1, 1, 1, 1, 1, 0, 0, 0},
    {1, 1, 1, 1, 1, 1, 0, 0},
    {1, 1, 1, 1, 1, 1, 1, 0}}},
  {ir::BinOp::Le, {
    {1, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 1}}},
  {ir::BinOp::Ge, {
    {1, 0, 0, 0, 0, 0, 0, 0},
    {1, 1, 0, 0, 0, 0, 0, 0},
    {1, 1, 1, 0, 0, 0, 0, 0},
    {1, 1, 1, 1, 0, 0, 0, 0},
    {1, 1, 1, 1, 1, 0, 0, 0},
    {1, 1, 1, 1, 1, 1, 0, 0},
    {1, 1, 1, 1, 1, 1, 1, 0},
    {1, 1, 1, 1, 1, 1, 1, 1}}},
  {ir::BinOp::And, {
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1},
    {0, 1, 1, 1, 1, 1, 1, 1}}},
  {ir::BinOp::Or, {
    {0, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1}}},
  {ir::BinOp::SDiv, {
    {0,          0,          0,          0,          0,          0, 0,          0},
    {0,          1,          0,          0,          0,          0, 0, 0xFFFFFFFF},
    {0,         31,          1,          0,          0,          0, 0, 0xFFFFFFE1},
    {0,         32,          1,          1,          0,          0, 0, 0xFFFFFFE0},
    {0,         33,          1,          1,          1,          0, 0, 0xFFFFFFDF},
    {0, 0x7FFFFFFF, 0x04210842, 0x03FFFFFF, 0x03E0F83E,          1, 0, 0x80000001},
    {0, 0x80000000, 0xFBDEF7BE, 0xFC000000, 0xFC1F07C2, 0xFFFFFFFF, 1, 0x80000000},
    {0, 0xFFFFFFFF,          0,          0,          0,          0, 0,          1}}},
  {ir::BinOp::SMod, {
    {0, 0,          0,          0,          0,          0,          0, 0},
    {0, 0,          1,          1,          1,          1,          1, 0},
    {0, 0,          0,         31,         31,         31,         31, 0},
    {0, 0,          1,          0,         32,         32,         32, 0},
    {0, 0,          2,          1,          0,         33,         33, 0},
    {0, 0,          1,         31,          1,          0, 0x7FFFFFFF, 0},
    {0, 0, 0xFFFFFFFE,          0, 0xFFFFFFFE, 0xFFFFFFFF,          0, 0},
    {0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0}}},
  {ir::BinOp::SLt, {
    {0, 1, 1, 1, 1, 1, 0, 0},
    {0, 0, 1, 1, 1, 1, 0, 0},
    {0, 0, 0, 1, 1, 1, 0, 0},
    {0, 0, 0, 0, 1, 1, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {1, 1, 1, 1, 1, 1, 0, 1},
    {1, 1, 1, 1, 1, 1, 0, 0}}},
  {ir::BinOp::SGt, {
    {0, 0, 0, 0, 0, 0, 1, 1},
    {1, 0, 0, 0, 0, 0, 1, 1},
    {1, 1, 0, 0, 0, 0, 1, 1},
    {1, 1, 1, 0, 0, 0, 1, 1},
    {1, 1, 1, 1, 0, 0, 1, 1},
    {1, 1, 1, 1, 1, 0, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0, 1, 0}}},
  {ir::BinOp::SLe, {
    {1, 1, 1, 1, 1, 1, 0, 0},
    {0, 1, 1, 1, 1, 1, 0, 0},
    {0, 0, 1, 1, 1, 1, 0, 0},
    {0, 0, 0, 1, 1, 1, 0, 0},
    {0, 0, 0, 0, 1, 1, 0, 0},
    {0, 0, 0, 0, 0, 1, 0, 0},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 0, 1}}},
  {ir::BinOp::SGe, {
    {1, 0, 0, 0, 0, 0, 1, 1},
    {1, 1, 0, 0, 0, 0, 1, 1},
    {1, 1, 1, 0, 0, 0, 1, 1},
    {1, 1, 1, 1, 0, 0, 1, 1},
    {1, 1, 1, 1, 1, 0, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 0, 1, 1}}},
  {ir::BinOp::SMin, {
    {         0,          0,          0,          0,          0,          0, 0x80000000, 0xFFFFFFFF},
    {         0,          1,          1,          1,          1,          1, 0x80000000, 0xFFFFFFFF},
    {         0,          1,         31,         31,         31,         31, 0x80000000, 0xFFFFFFFF},
    {         0,          1,         31,         32,         32,         32, 0x80000000, 0xFFFFFFFF},
    {         0,          1,         31,         32,         33,         33, 0x80000000, 0xFFFFFFFF},
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x80000000, 0xFFFFFFFF}}},
  {ir::BinOp::SMax, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF,          0,          0},
    {         1,          1,         31,         32,         33, 0x7FFFFFFF,          1,          1},
    {        31,         31,         31,         32,         33, 0x7FFFFFFF,         31,         31},
    {        32,         32,         32,         32,         33, 0x7FFFFFFF,         32,         32},
    {        33,         33,         33,         33,         33, 0x7FFFFFFF,         33,         33},
    {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF},
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::SShr, {
    {         0,          0,          0,          0,          0,          0,          0,          0},
    {         1,          0,          0,          1,          0,          0,          1,          0},
    {        31,         15,          0,         31,         15,          0,         31,          0},
    {        32,         16,          0,         32,         16,          0,         32,          0},
    {        33,         16,          0,         33,         16,          0,         33,          0},
    {0x7FFFFFFF, 0x3FFFFFFF,          0, 0x7FFFFFFF, 0x3FFFFFFF,          0, 0x7FFFFFFF,          0},
    {0x80000000, 0xC0000000, 0xFFFFFFFF, 0x80000000, 0xC0000000, 0xFFFFFFFF, 0x80000000, 0xFFFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
  {ir::BinOp::AddSat, {
    {         0,          1,         31,         32,         33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF},
    {         1,          2,         32,         33,         34, 0x80000000, 0x80000001, 0xFFFFFFFF},
    {        31,         32,         62,         63,         64, 0x8000001E, 0x8000001F, 0xFFFFFFFF},
    {        32,         33,         63,         64,         65, 0x8000001F, 0x80000020, 0xFFFFFFFF},
    {        33,         34,         64,         65,         66, 0x80000020, 0x80000021, 0xFFFFFFFF},
    {0x7FFFFFFF, 0x80000000, 0x8000001E, 0x8000001F, 0x80000020, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFF},
    {0x80000000, 0x80000001, 0x8000001F, 0x80000020, 0x80000021, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF},
    {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
};

inline constexpr ExpectedUnary kExpectedUnary[] = {
  {ir::UnOp::Negate, {0, 0xFFFFFFFF, 0xFFFFFFE1, 0xFFFFFFE0, 0xFFFFFFDF, 0x80000001, 0x80000000, 1}},
  {ir::UnOp::BitNot, {0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFE0, 0xFFFFFFDF, 0xFFFFFFDE, 0x80000000, 0x7FFFFFFF, 0}},
  {ir::UnOp::LogicalNot, {1, 0, 0, 0, 0, 0, 0, 0}},
  {ir::UnOp::Popcount, {0, 1, 5, 1, 2, 31, 1, 32}},
  {ir::UnOp::Clz, {32, 31, 27, 26, 26, 1, 0, 0}},
  {ir::UnOp::Ctz, {32, 0, 0, 5, 0, 0, 31, 0}},
  {ir::UnOp::ReverseBits, {0, 0x80000000, 0xF8000000, 0x04000000, 0x84000000, 0xFFFFFFFE, 1, 0xFFFFFFFF}},
};

// A row a row of casts.def, with examples and edge values.
inline constexpr auto kExpectedCasts = [] {
  using enum ir::DataType;
  constexpr std::uint32_t kMinus1 = 0xFFFFFFFF, kMin = 0x80000000, kMax = 0x7FFFFFFF;
  return std::to_array<ExpectedCast>({
    {U32, U32, {42}, {42}}, {U32, U32, {kMinus1}, {kMinus1}},
    {U32, I32, {0xFFFFFFFF}, {kMinus1}}, {U32, I32, {kMin}, {kMin}},
    {U32, Bool, {0}, {0}}, {U32, Bool, {7}, {1}}, {U32, Bool, {kMin}, {1}}, {U32, Bool, {kMinus1}, {1}},
    {U32, U64, {42}, {42, 0}}, {U32, U64, {kMinus1}, {kMinus1, 0}},
    {U32, Vec2U32, {5}, {5, 5}}, {U32, Vec2U32, {kMinus1}, {kMinus1, kMinus1}},
    {U32, Vec4U32, {5}, {5, 5, 5, 5}},
    {I32, I32, {kMinus1}, {kMinus1}},
    {I32, U32, {kMinus1}, {0xFFFFFFFF}}, {I32, U32, {kMin}, {kMin}},
    {I32, Bool, {0}, {0}}, {I32, Bool, {kMinus1}, {1}}, {I32, Bool, {kMin}, {1}},
    {I32, U64, {kMinus1}, {0xFFFFFFFF, 0xFFFFFFFF}}, {I32, U64, {kMin}, {kMin, 0xFFFFFFFF}}, {I32, U64, {kMax}, {kMax, 0}}, {I32, U64, {0}, {0, 0}},
    {I32, Vec2U32, {kMinus1}, {0xFFFFFFFF, 0xFFFFFFFF}}, {I32, Vec2U32, {1}, {1, 1}},
    {I32, Vec4U32, {kMinus1}, {kMinus1, kMinus1, kMinus1, kMinus1}},
    {Bool, U32, {1}, {1}}, {Bool, U32, {0}, {0}},
    {Bool, I32, {1}, {1}}, {Bool, I32, {0}, {0}},
    {Bool, Bool, {1}, {1}}, {Bool, Bool, {0}, {0}},
    {Bool, U64, {0}, {0, 0}}, {Bool, U64, {1}, {1, 0}},
    {Bool, Vec2U32, {0}, {0, 0}}, {Bool, Vec2U32, {1}, {1, 1}},
    {Bool, Vec4U32, {0}, {0, 0, 0, 0}}, {Bool, Vec4U32, {1}, {1, 1, 1, 1}},
    {U64, U32, {0xDEAD, 0xBEEF}, {0xDEAD}},
    {U64, I32, {0xFFFFFFFF, 0}, {kMinus1}},
    {U64, Bool, {1, 0}, {1}}, {U64, Bool, {0, 0}, {0}}, {U64, Bool, {0, 1}, {1}}, {U64, Bool, {0, kMin}, {1}},
    {U64, U64, {1, 2}, {1, 2}},
    {U64, Vec2U32, {1, 2}, {1, 2}},
    {Vec2U32, U32, {3, 7}, {3}},
    {Vec2U32, I32, {0xFFFFFFFF, 0}, {kMinus1}},
    {Vec2U32, U64, {3, 7}, {3, 7}},
    {Vec2U32, Vec2U32, {3, 7}, {3, 7}},
    {Vec2U32, Bool, {0, 0}, {0}}, {Vec2U32, Bool, {0, 7}, {1}}, {Vec2U32, Bool, {7, 0}, {1}},
    {Vec4U32, U32, {1, 2, 3, 4}, {1}},
    {Vec4U32, I32, {kMinus1, 2, 3, 4}, {kMinus1}},
    {Vec4U32, Vec2U32, {1, 2, 3, 4}, {1, 2}},
    {Vec4U32, Vec4U32, {1, 2, 3, 4}, {1, 2, 3, 4}},
    {Vec4U32, Bool, {0, 0, 0, 0}, {0}}, {Vec4U32, Bool, {0, 0, 0, 1}, {1}}, {Vec4U32, Bool, {0, 0, 2, 0}, {1}},
    {Vec4U32, U64, {1, 2, 3, 4}, {1, 2}},
  });
}();
// clang-format on

}  // namespace vyre::test
