import Foundation
import Glibc
import Logging
import Model
import Testing

@testable import CommandSupport
@testable import Gateway

/// The reports of a node to systemd or Podman. The receiver is another program, which knows sd_notify(3) only.
@Suite(.timeLimit(.minutes(5))) struct ServiceManagerTests {
    /// A receiver in the directory of a world.
    private struct Receiver {
        let path: String
        let log: String
        let process: ChildProcess

        static func open(_ world: World) async throws -> Receiver {
            let (path, log) = (world.material.path("notify"), world.material.path("notify.log"))
            let process = try PythonClient(world).start(script: "notify_socket", [path], logFile: log)
            let receiver = Receiver(path: path, log: log, process: process)
            // The first line, an empty report, says that the socket is bound.
            try await eventually("the receiver listens") { receiver.lines.count == 1 }
            return receiver
        }

        private var lines: [[String]] {
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            return text.split(separator: "\n").compactMap { line in
                (try? JSONParser.parse(Array(line.utf8)))?.array?.compactMap(\.string)
            }
        }

        /// The first line of each report, in the order of their arrival.
        var states: [String] { lines.dropFirst().compactMap(\.first) }

        func stop() { process.kill() }
    }

    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func aNodeReportsItsStartItsReloadAndItsEnd() async throws {
        let world = try World()
        try await closing {
            await world.close()
        } after: {
            let receiver = try await Receiver.open(world)
            defer { receiver.stop() }
            world.serveEnvironment = ["NOTIFY_SOCKET": receiver.path]
            try await world.startSimulator()
            try await world.startGateway()
            try await eventually("the start is reported") { receiver.states == ["READY=1"] }

            kill(try #require(world.gateway).processID, SIGHUP)
            try await eventually("the reload is reported") {
                receiver.states == ["READY=1", "RELOADING=1", "READY=1"]
            }
            #expect(try world.gatewayLog().contains("TLS certificate unchanged"))
            #expect(await world.gateway?.stop() == 0)
            #expect(receiver.states == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
        }
    }

    @Test func reportsHaveTheFormOfTheProtocol() {
        for report in ServiceManager.Report.allCases {
            for line in report.rawValue.split(separator: "\n", omittingEmptySubsequences: false) {
                #expect(line.split(separator: "=", maxSplits: 1).count == 2, "\(line)")
            }
        }
    }

    @Test func withoutAServiceManagerNothingIsSent() async {
        for environment in [[:], ["NOTIFY_SOCKET": ""]] {
            let manager = ServiceManager(environment: environment, logger: silent)
            #expect(manager.socket == nil)
            await manager.report(.ready)
        }
    }

    // A node must not fail because of its service manager.
    @Test(arguments: ["@abstract", "/nonexistent/socket", "/" + String(repeating: "x", count: 200), "relative"])
    func aSocketThatCannotBeReachedStopsNothing(_ path: String) async {
        await ServiceManager(environment: ["NOTIFY_SOCKET": path], logger: silent).report(.stopping)
    }

    /// Runs `push-gateway health` to its end.
    private func health(_ world: World, _ arguments: [String]) async throws -> (status: Int32?, log: String) {
        let log = world.material.path("health.log")
        let process = try ChildProcess(
            "health",
            program: World.programs + "/push-gateway",
            arguments: ["health"] + arguments,
            logFile: log
        )
        try await process.ended()
        let status = await process.stop()
        return (status, String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self))
    }

    @Test func theHealthCheckOfAContainerAsksTheNode() async throws {
        try await World.with { world in
            let url = ["--url", "http://\(world.adminAddress)"]
            #expect(try await health(world, url).status == 0)
            #expect(try await health(world, url + ["--live"]).log == "ok\n")
            _ = await world.gateway?.stop()
            let ended = try await health(world, url)
            #expect(ended.status == 1 && ended.log.contains("cannot be reached"), "\(ended.log)")
        }
    }
}
