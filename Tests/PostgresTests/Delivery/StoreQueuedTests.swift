import Testing

/// The targets of a message that are queued (`find_queued_targets`).
@Suite struct StoreQueuedTests {
    @Test(arguments: [false, true])
    func severalTargetsAreFoundAsEachIsDefined(crosses: Bool) async throws {
        let stage = try await QueuedStage.make(crosses: crosses)
        try await stage.send()
        let found = try await stage.found()
        let wanted = found["by definition", default: []]
        for way in ["together", "in parts", "alone"] {
            let lines = found[way, default: []]
            #expect(lines == wanted, "\(way): \(Set(lines).symmetricDifference(wanted).sorted())")
        }
        // Targets with a slice, and some whose slice is unknown.
        let unknown = wanted.count { $0.hasSuffix(" -") }
        #expect(unknown > 20 && wanted.count - unknown > 20, "\(unknown) of \(wanted.count)")
    }
}
