/// Throttling: a pause of `delay` after each `count` targets.
package struct Pace: Sendable, Hashable {
    package var count: Int
    package var delay: Duration

    package init(count: Int, delay: Duration) {
        self.count = count
        self.delay = delay
    }
}
