import Testing

@testable import HTTP2

/// Blocks by number: a block is kept while it is in use, and the current one until the next one replaces it.
struct HeldBlocksTests {
    private func block(_ value: String) throws -> HeaderBlock { try HeaderBlock(fields: [(FieldName("x-a"), value)]) }

    @Test func neighboursShareANumberAndOthersDoNot() throws {
        var held = HeldBlocks()
        let (one, two) = (try block("1"), try block("2"))
        let first = held.number(of: one)
        held.use(first)
        held.use(held.number(of: one))
        let second = held.number(of: two)
        held.use(second)
        #expect(held.number(of: two) == second && first != second)
        #expect(held[first] === one && held[second] === two && held[HeldBlocks.none] == nil)
    }

    @Test func blockLivesUntilItsLastUser() throws {
        var held = HeldBlocks()
        weak var kept: HeaderBlock?
        do {
            let one = try block("1")
            kept = one
            held.use(held.number(of: one))
            held.use(held.number(of: one))
        }
        let current = held.number(of: try block("2"))
        held.letGo(0)
        #expect(kept != nil)
        held.letGo(0)
        #expect(kept == nil)
        // Its number is reused.
        held.use(current)
        #expect(held.number(of: try block("3")) == 0)
    }

    @Test func currentBlockStaysUnusedUntilTheNextReplacesIt() throws {
        var held = HeldBlocks()
        weak var kept: HeaderBlock?
        do {
            let one = try block("1")
            kept = one
            held.use(held.number(of: one))
        }
        held.letGo(0)
        #expect(kept != nil)
        #expect(held.number(of: try block("2")) == 0)
        #expect(kept == nil)
        held.use(HeldBlocks.none)
        held.letGo(HeldBlocks.none)
    }
}
