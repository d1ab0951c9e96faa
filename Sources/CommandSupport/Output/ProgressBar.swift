import Foundation

/// Shows the progress of long work on standard error: on a terminal a bar that is redrawn, elsewhere one line every ten seconds.
package struct ProgressBar {
    /// A tenth of a second between two drawings: nobody sees a faster change.
    private static let redraw: Duration = .milliseconds(100)
    private static let reprint: Duration = .seconds(10)
    private static let width = 30

    private let isTerminal: Bool
    private let start = ContinuousClock.now
    private var last: ContinuousClock.Instant?

    package init(isTerminal: Bool = isatty(STDERR_FILENO) == 1) { self.isTerminal = isTerminal }

    /// Shows that `done` of `total` units are done, which correspond to `rows` rows. `total` is nil when it is unknown.
    package mutating func show(done: Int, of total: Int?, rows: Int, isLast: Bool = false) {
        let now = ContinuousClock.now
        let pause = isTerminal ? Self.redraw : Self.reprint
        if let last, now - last < pause, !isLast { return }
        if last == nil, !isTerminal, !isLast {
            last = now
            return
        }
        last = now
        let text = Self.text(done: done, of: total, rows: rows, elapsed: start.duration(to: now))
        let line = isTerminal ? "\r\u{1B}[K" + text + (isLast ? "\n" : "") : text + "\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// The text of the bar: share, bar, rows, rate and remaining time.
    package static func text(done: Int, of total: Int?, rows: Int, elapsed: Duration) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let rate = "\(rows) rows, \(Int(Double(rows) / seconds))/s"
        guard let total, total > 0 else { return rate }
        let share = min(1, max(0, Double(done) / Double(total)))
        let filled = Int(share * Double(width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        let left = share > 0 ? Int((seconds / share - seconds).rounded()) : 0
        return "[\(bar)] \(Int(share * 100)) %  \(rate)" + (share < 1 ? ", \(left) s left" : "")
    }
}
