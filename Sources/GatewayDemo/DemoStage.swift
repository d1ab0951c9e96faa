import Dispatch
import Foundation
import Model

/// The processes of the demo and how to reach them.
struct DemoStage: CustomStringConvertible {
    let directory: String
    let apiKey: String
    let http: HTTPCaller
    /// The same gateway through its TLS listener.
    let https: HTTPCaller
    let control: HTTPCaller
    let adminAddress: String
    private let processes: [DemoProcess]

    var description: String {
        """
        HTTP        \(http.base)
        HTTPS       \(https.base)   certificate \(directory)/gateway-cert.pem
        admin       http://\(adminAddress)/readyz  /metrics
        simulator   \(control.base)/_simulator/requests
        API key     \(apiKey)
        bindings    \(directory)/tenants.yaml
        """
    }

    /// Starts everything in a new directory below the system's temporary one, and applies what the stories need.
    ///
    /// - Throws: `DemoFailure` that says which part did not start.
    static func open(
        gateway program: String,
        simulator: String,
        stories: [(vendor: Vendor, story: any VendorStory)]
    ) async throws -> DemoStage {
        guard FileManager.default.isExecutableFile(atPath: simulator) else {
            throw DemoFailure("there is no program \(simulator); build it with: swift build --product apns-simulator")
        }
        let identifiers = SystemIdentifiers()
        let directory = NSTemporaryDirectory() + "pgw-demo-" + identifiers.randomHex(byteCount: 4)
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        let material = DemoMaterial(directory: directory)
        try material.write()
        var processes: [DemoProcess] = []
        do {
            let apns = try DemoProcess(
                "apns-simulator",
                program: simulator,
                arguments: [
                    "--port", "0", "--control-port", "0", "--mode", "script", "--ca-out",
                    material.path("simulator-ca.pem"), "--keys",
                    material.path("simulator-keys.json"), "--address-file", material.path("simulator.json"),
                ],
                logFile: material.path("simulator.log")
            )
            processes.append(apns)
            let simulated = try await readAddressFile(material.path("simulator.json"), of: apns)
            guard let apnsAddress = simulated["apns"]?.string, let control = simulated["control"]?.string else {
                throw DemoFailure("the simulator's address file lacks addresses")
            }
            let serve = try DemoProcess(
                "push-gateway serve",
                program: program,
                arguments: [
                    "serve", "--data-dir", material.path("data"), "--listen", "127.0.0.1:0", "--tls-listen",
                    "127.0.0.1:0", "--tls-cert",
                    material.path("gateway-cert.pem"), "--tls-key", material.path("gateway-key.pem"), "--admin-listen",
                    "127.0.0.1:0",
                    "--address-file", material.path("gateway.json"),
                ],
                logFile: material.path("gateway.log")
            )
            processes.append(serve)
            let served = try await readAddressFile(material.path("gateway.json"), of: serve)
            guard let http = served["http"]?.string, let https = served["https"]?.string,
                let admin = served["admin"]?.string
            else {
                throw DemoFailure("the gateway's address file lacks addresses")
            }
            let apiKey = APIKeys.make(identifiers)
            try material.writeTenants(apnsAddress: apnsAddress, lines: lines(of: stories))
            let secrets = stories.map(\.story.secrets).reduce(into: [:]) { $0.merge($1) { _, new in new } }
            try await apply(program, material, apiKey, environment: secrets)
            return DemoStage(
                directory: directory,
                apiKey: apiKey,
                http: HTTPCaller(base: "http://\(http)"),
                https: HTTPCaller(base: "https://\(https)", trustRootsFile: material.path("gateway-cert.pem")),
                control: HTTPCaller(base: "http://\(control)"),
                adminAddress: admin,
                processes: processes
            )
        } catch {
            for process in processes.reversed() { _ = await process.stop() }
            throw DemoFailure("\(error) (logs are in \(directory))")
        }
    }

    /// The bindings of the demo's app and further apps, as lines of the tenants file. JSON is YAML.
    private static func lines(of stories: [(vendor: Vendor, story: any VendorStory)]) -> [String] {
        func binding(_ vendor: Vendor, _ value: JSON) -> String { "          \(vendor): \(JSONWriter.text(value))" }
        let shop = stories.compactMap { entry in entry.story.binding.map { binding(entry.vendor, $0) } }
        let apps = stories.flatMap { entry in
            entry.story.apps.flatMap { app in
                [
                    "      - id: \(app.id)",
                    "        platforms:",
                    "          ios: { topic: \(DemoMaterial.topic), production: apple }",
                    "        bindings:",
                    binding(entry.vendor, app.binding),
                ]
            }
        }
        return shop + apps
    }

    /// Applies the tenants file of `material`.
    ///
    /// - Throws: `DemoFailure` with what the command said.
    static func apply(
        _ program: String,
        _ material: DemoMaterial,
        _ apiKey: String,
        environment: [String: String] = [:]
    ) async throws {
        let apply = try DemoProcess(
            "push-gateway apply",
            program: program,
            arguments: ["apply", "--data-dir", material.path("data"), "--file", material.path("tenants.yaml")],
            logFile: material.path("apply.log"),
            environment: environment.merging(["DEMO_API_KEY": apiKey]) { _, own in own }
        )
        for _ in 0..<600 where apply.isRunning { try await Task.sleep(for: .milliseconds(50)) }
        guard !apply.isRunning, await apply.stop() == 0 else {
            let log = FileManager.default.contents(atPath: material.path("apply.log")) ?? Data()
            throw DemoFailure("apply failed: \(String(decoding: log.suffix(500), as: UTF8.self))")
        }
    }

    /// Ends everything in order and removes the directory.
    ///
    /// - Throws: `DemoFailure` when a part did not end in good order.
    func close() async throws {
        for caller in [http, https, control] { await caller.close() }
        for process in processes.reversed() {
            let status = await process.stop()
            guard status == 0 else {
                throw DemoFailure("\(process.name) ended with status \(status.map(String.init) ?? "killed"), not 0")
            }
        }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Ends everything after a failure and keeps the directory for its logs.
    func abandon() async {
        for caller in [http, https, control] { await caller.close() }
        for process in processes.reversed() { _ = await process.stop() }
    }
}
