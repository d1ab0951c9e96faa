import CommandSupport
import Dispatch
import Foundation
import Gateway
package import Model
import Secrets

/// The processes of the demo and their addresses.
package struct DemoStage: CustomStringConvertible {
    package let directory: String
    let apiKey: String
    let http: HTTPCaller
    /// The same gateway through its TLS listener.
    let https: HTTPCaller
    let control: HTTPCaller
    let adminAddress: String
    /// The address of the web console.
    let console: String
    private let program: String
    private let processes: [ChildProcess]

    package var description: String {
        """
        HTTP        \(http.base)
        HTTPS       \(https.base)   certificate \(directory)/gateway-cert.pem
        admin       http://\(adminAddress)/readyz  /metrics
        console     \(console)
        simulator   \(control.base)/_simulator/requests
        API key     \(apiKey)
        bindings    \(directory)/tenants.yaml
        """
    }

    /// Starts everything in a new directory below the system's temporary directory, and applies the provisioning that the stories need.
    ///
    /// - Parameters:
    ///   - program: the program `push-gateway`.
    ///   - simulator: the program `apns-simulator`.
    ///   - stories: whose bindings and apps are provisioned.
    ///   - hasHistory: whether the app of `writeHistory` is provisioned too.
    /// - Returns: the stage, with everything ready.
    /// - Throws: `StageFailure` that names the part that did not start.
    package static func open(
        gateway program: String,
        simulator: String,
        stories: [(vendor: Vendor, story: any VendorStory)],
        hasHistory: Bool = false
    ) async throws -> DemoStage {
        guard FileManager.default.isExecutableFile(atPath: simulator) else {
            throw StageFailure("no program \(simulator); build it with: swift build --product apns-simulator")
        }
        let identifiers = SystemIdentifiers()
        let directory = NSTemporaryDirectory() + "pgw-demo-" + identifiers.randomHex(byteCount: 4)
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let material = StageMaterial(directory: directory)
        try material.write()
        var processes: [ChildProcess] = []
        do {
            let simulated = try await startSimulator(simulator, material, &processes)
            let served = try await startGateway(program, material, &processes)
            let apiKey = APIKeys.make(identifiers)
            let history = hasHistory ? DemoHistory.lines : []
            try material.writeTenants(apnsAddress: simulated.apns, lines: lines(of: stories) + history)
            let secrets = stories.map(\.story.secrets).reduce(into: [:]) { $0.merge($1) { _, new in new } }
            try await material.apply(program, apiKey, environment: secrets)
            return DemoStage(
                directory: directory,
                apiKey: apiKey,
                http: HTTPCaller(base: "http://\(served.http)"),
                https: HTTPCaller(base: "https://\(served.https)", trustRootsFile: material.path("gateway-cert.pem")),
                control: HTTPCaller(base: "http://\(simulated.control)"),
                adminAddress: served.admin,
                console: "http://\(served.console)",
                program: program,
                processes: processes
            )
        } catch {
            for process in processes.reversed() { _ = await process.stop() }
            throw StageFailure("\(error) (logs are in \(directory))")
        }
    }

    private static func startSimulator(
        _ program: String,
        _ material: StageMaterial,
        _ processes: inout [ChildProcess]
    ) async throws -> (apns: String, control: String) {
        let process = try ChildProcess(
            "apns-simulator",
            program: program,
            arguments: [
                "--port", "0", "--control-port", "0", "--mode", "script",
                "--ca-out", material.path("simulator-ca.pem"), "--keys", material.path("simulator-keys.json"),
                "--address-file", material.path("simulator.json"),
            ],
            logFile: material.path("simulator.log")
        )
        processes.append(process)
        let addresses = try await readAddressFile(material.path("simulator.json"), of: process)
        guard let apns = addresses["apns"]?.string, let control = addresses["control"]?.string else {
            throw StageFailure("the simulator's address file lacks addresses")
        }
        return (apns, control)
    }

    private static func startGateway(
        _ program: String,
        _ material: StageMaterial,
        _ processes: inout [ChildProcess]
    ) async throws -> (http: String, https: String, admin: String, console: String) {
        let process = try ChildProcess(
            "push-gateway serve",
            program: program,
            arguments: [
                "serve", "--data-dir", material.path("data"), "--listen", "127.0.0.1:0",
                "--tls-listen", "127.0.0.1:0", "--tls-cert", material.path("gateway-cert.pem"),
                "--tls-key", material.path("gateway-key.pem"), "--admin-listen", "127.0.0.1:0",
                "--console-listen", "127.0.0.1:0",
                "--address-file", material.path("gateway.json"),
            ],
            logFile: material.path("gateway.log")
        )
        processes.append(process)
        let addresses = try await readAddressFile(material.path("gateway.json"), of: process)
        guard let http = addresses["http"]?.string, let https = addresses["https"]?.string,
            let admin = addresses["admin"]?.string, let console = addresses["console"]?.string
        else { throw StageFailure("the gateway's address file lacks addresses") }
        return (http, https, admin, console)
    }

    /// The bindings of the demo's app, and further apps, as lines of the tenants file. JSON is valid YAML. `edit` changes each binding.
    package static func lines(
        of stories: [(vendor: Vendor, story: any VendorStory)],
        edit: (JSON) -> JSON = { $0 }
    ) -> [String] {
        func binding(_ vendor: Vendor, _ value: JSON) -> String {
            "          \(vendor): \(JSONWriter.text(edit(value)))"
        }
        let shop = stories.compactMap { entry in entry.story.binding.map { binding(entry.vendor, $0) } }
        let apps = stories.flatMap { entry in
            entry.story.apps.flatMap { app in
                [
                    "      - id: \(app.id)",
                    "        platforms:",
                    "          ios: { topic: \(StageMaterial.topic), production: apple }",
                    "        bindings:",
                    binding(entry.vendor, app.binding),
                ]
            }
        }
        return shop + apps
    }

    /// Writes thirty days of generated history, and returns a paragraph that says so. The stage was opened with `hasHistory`.
    ///
    /// - Throws: `StageFailure` with the message of `psql`.
    package func writeHistory() async throws -> String {
        let numbers = try await DemoHistory.write(StageMaterial(directory: directory))
        return """
            Generated history: the app '\(DemoHistory.app)' has \(numbers) of the last thirty days.
            No call made them. The other apps have the calls of the steps above.
            \(console)/t/acme/?app=\(DemoHistory.app)&range=30d
            """
    }

    /// A link by which the first owner of the tenant chooses a password for the web console. It works once, for 15 minutes.
    ///
    /// - Throws: `StageFailure` with the command's message.
    package func invitation() async throws -> String {
        try await StageMaterial(directory: directory).inviteOwner(program, console: console)
    }

    /// Stops everything in order and removes the directory.
    ///
    /// - Throws: `StageFailure` when a process ended with an error.
    package func close() async throws {
        for caller in [http, https, control] { await caller.close() }
        for process in processes.reversed() {
            let status = await process.stop()
            guard status == 0 else {
                throw StageFailure("\(process.name) ended with status \(status.map(String.init) ?? "killed"), not 0")
            }
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Stops everything after a failure and keeps the directory with the logs.
    package func abandon() async {
        for caller in [http, https, control] { await caller.close() }
        for process in processes.reversed() { _ = await process.stop() }
    }
}
