// The bench command measures what DESIGN.md section 9 promises of admission, on
// the built webhook, and fails where a promise is not kept.
//
// Every promise is a ratio of two things measured in one run, in turns, batch
// against batch; what counts is the median of the ratios. So another load on the
// machine slows both sides and does not decide. What is measured against, a raw
// hook that decodes the review and allows, is part of this command (rawhook).
//
// Each part of the flag --only is a file here. Below are what they share: measure
// (comparisons and the table of goals), catalog, review (requests to a hook), and
// holder (a catalog in memory).
package main
