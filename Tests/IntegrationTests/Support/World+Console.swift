import CommandSupport
import Foundation
import Model
import Testing

extension World {
    /// The address of the running gateway's console: `http://127.0.0.1:49152`.
    func consoleBase() throws -> String {
        let bytes = FileManager.default.contents(atPath: material.path("gateway.json")) ?? Data()
        return "http://" + (try #require(try JSONParser.parse(Array(bytes))["console"]?.string))
    }

    /// Whether a test fails when the machine lacks the browser, Python or a package of the Python package index: a whole run of `scripts/test` has them. Without
    /// this, a run on a machine without the index would pass without the OpenAPI validator, the generated client and the vendors' third-party clients.
    private static let isEverythingRequired = ProcessInfo.processInfo.environment["REQUIRE_BROWSER"] == "1"

    /// Skips the test because of what the machine lacks, or fails it if everything is required.
    static func lacks(_ what: String) throws {
        guard isEverythingRequired else { try Test.cancel("\(what)") }
        Issue.record("REQUIRE_BROWSER=1, and the machine lacks what the test needs: \(what)")
    }

    /// Runs `body` with a simulator, a gateway, the address of its console, and Python for the scripts that call it. If the machine lacks what `python`
    /// needs, the test is skipped with the reason, or fails with it (see `lacks`).
    ///
    /// - Parameters:
    ///   - arguments: of `serve`, in addition to those of the console.
    ///   - provision: applies the tenants.
    ///   - python: makes the client of the scripts.
    ///   - body: the test; an error of it is an issue.
    /// - Throws: when the directory of the world cannot be written, and when the test is skipped.
    static func withConsole(
        _ arguments: [String],
        provision: (World) async throws -> Void,
        python: (World) async throws -> PythonClient,
        _ body: (World, String, PythonClient) async throws -> Void
    ) async throws {
        // 4 MiB of memory per password instead of 32: the machine of the tests has other work.
        let console = ["--console-listen", "127.0.0.1:0", "--console-password-rounds", "12"]
        let world = try World(serveArguments: console + arguments)
        var skipped: String?
        do {
            try await world.startSimulator()
            try await world.startGateway()
            try await provision(world)
            try await body(world, try world.consoleBase(), try await python(world))
        } catch let skip as PythonClient.Skip {
            skipped = skip.reason
        } catch {
            Issue.record(error)
        }
        await world.close()
        if let skipped { try lacks(skipped) }
    }
}
