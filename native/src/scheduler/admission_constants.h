// Every constant of the admission controller (admission_controller.h says what each one is for).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::scheduler {

/// Weights of the priority classes: high, normal, low.
inline constexpr std::array<uint32_t, 3> kClassWeights{4, 2, 1};
inline constexpr size_t kClasses = kClassWeights.size();

// The verdict.
/// A request with an empty queue is refused only if it is predicted to take this much of its
/// budget: the refusal is final, while a late answer is merely late.
inline constexpr double kDoubt = 1.25;
/// A class needs its turn only if the predicted end lies beyond this share of the budget. Below it
/// every class is admitted, so that a few requests of one class find an engine that is idle.
inline constexpr double kTurnsShare = 0.25;
/// Bounds of a retry hint, microseconds.
inline constexpr double kRetryAfterUsMin = 1'000, kRetryAfterUsMax = 60e6;

// The margin.
/// Margins before the first answer: calm, and while the classes ask for too much.
inline constexpr double kMarginFirst = 1.1, kMarginFirstShort = 1.5;
inline constexpr double kMarginMin = 1, kMarginMax = 4;
/// A late answer raises the margin by this factor; answers on time lower it by this much a second.
inline constexpr double kRaise = 1.25, kLoweredPerSecond = 0.02;
/// At low rates the margin falls per answer instead of per second, so that this share of answers is
/// late once it has settled, whatever the rate.
inline constexpr double kLateShare = 0.003;
/// Above this margin the cause is a stall (paging, a stopped process), not prediction error.
inline constexpr double kDisturbed = 2;
/// A caller starts its clock before its request arrives here. One that cancels after this share of
/// its budget counts as a late answer.
inline constexpr double kGivenUpShare = 0.9;

// The sharing rate and the mean request.
/// Weight of the past at each new sample.
inline constexpr double kForget = 0.95;

// The credits.
/// Time constant of the smoothed demand and capacity, microseconds.
inline constexpr double kSmoothedUs = 1e6;
/// A class saves at most its share of this time ...
inline constexpr double kSavedUs = 500e3;
/// ... and owes at most its share of this time: work that was admitted before the overload was
/// detected is charged retroactively.
inline constexpr double kOverdrawnUs = 2e6;
/// Classes earn slightly more than the measured capacity, so that the measurement can grow.
inline constexpr double kSlack = 1.05;
/// A class takes turns only while the others ask for this share of the demand: alone, its deadlines
/// bound what it may begin.
inline constexpr double kAskingMin = 1e-3;
/// Bounds of the measured capacity: the share of busy time that becomes answers.
inline constexpr double kDoneMin = 0.5, kDoneMax = 1;

// The queue.
/// Each class that has not filled its places keeps one in this many of the queue's.
inline constexpr size_t kKeptPlaces = 16;

}  // namespace tessera::scheduler
