import Testing

/// Starts one simulator and one gateway for all tests of a suite, because a start takes seconds and most tests only need their own apps.
///
/// The suite must be `.serialized`, because only one task at a time may drive a world. A test that kills a process, or counts everything that the
/// simulator received, has its own world instead.
struct SharedWorld: SuiteTrait, TestScoping {
    @TaskLocal private static var running: World?

    /// The world of the running suite.
    static var current: World { get throws { try #require(running, "the suite has no .sharedWorld") } }

    /// The arguments of `serve` in addition to the directories and listeners.
    let serveArguments: [String]
    /// Runs once, when the gateway serves.
    let prepare: @Sendable (World) async throws -> Void

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await World.with(serveArguments: serveArguments) { world in
            try await prepare(world)
            try await Self.$running.withValue(world) { try await function() }
        }
    }
}

extension Trait where Self == SharedWorld {
    /// One simulator and one gateway with the demo's tenant for the whole suite.
    static func sharedWorld(
        serveArguments: [String] = [],
        _ prepare: @escaping @Sendable (World) async throws -> Void = { _ in }
    ) -> SharedWorld {
        SharedWorld(serveArguments: serveArguments) { world in
            let applied = try await world.apply()
            try #require(applied.status == 0, "\(applied.log)")
            try await prepare(world)
        }
    }
}

extension World {
    /// Starts the simulator and the gateway, runs `body` and stops both in any case.
    ///
    /// - Throws: the error of `body`; the test fails at its location.
    static func with(
        simulatorArguments: [String] = ["--mode", "script"],
        serveArguments: [String] = [],
        _ body: (World) async throws -> Void
    ) async throws {
        let world = try World(simulatorArguments: simulatorArguments, serveArguments: serveArguments)
        try await closing {
            await world.close()
        } after: {
            try await world.startSimulator()
            try await world.startGateway()
            try await body(world)
        }
    }
}
