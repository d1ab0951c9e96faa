import Testing

@testable import HTTP2

/// The random numbers of identifiers.
struct BlockRandomTests {
    /// A number that two callers got would be an identifier that two calls have.
    @Test func noNumberIsDrawnTwice() async {
        let drawn = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var random = BlockRandom()
                    return (0..<1000).map { _ -> UInt64 in random.next() }
                }
            }
            var all: [UInt64] = []
            for await part in group { all += part }
            return all
        }
        #expect(Set(drawn).count == 8000)
    }
}
