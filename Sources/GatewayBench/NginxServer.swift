import CommandSupport
import Foundation
import NIOCore
import NIOPosix

/// An nginx with one process on one core: the reference for proxying, and the upstream that is fast enough for it.
struct NginxServer {
    enum Role: Sendable {
        /// Answers every call with this JSON.
        case answers(String)
        /// Gives every call to the server at this port of loopback.
        case proxies(to: Int)
    }

    /// 1,024 connections to the upstream are kept: more than any turn has.
    private static let kept = 1024
    /// 1,000,000,000 calls per connection: none is closed because of its number of calls, which the gateway does not limit either.
    private static let callsPerConnection = 1_000_000_000
    /// 10 s until it answers.
    private static let tries = 200

    let process: ChildProcess
    let port: Int

    var base: String { "http://127.0.0.1:\(port)" }

    /// Starts an nginx on a free port.
    ///
    /// - Parameters:
    ///   - program: the path of nginx.
    ///   - name: of its files.
    ///   - role: how it answers.
    ///   - core: its only core.
    ///   - material: the directory of its files.
    /// - Returns: the server, which answers. The caller stops its process.
    /// - Throws: `StageFailure` when it does not start.
    static func start(
        _ program: String,
        _ name: String,
        _ role: Role,
        core: Int,
        in material: StageMaterial
    ) async throws -> NginxServer {
        let port = try await freePort()
        let (file, log) = (material.path("\(name).conf"), material.path("\(name).log"))
        let text = configuration(role, port: port, files: material.path(name))
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let process = try ChildProcess(
            name,
            program: "/usr/bin/taskset",
            arguments: ["-c", "\(core)", program, "-e", "stderr", "-p", material.directory, "-c", file],
            logFile: log
        )
        let server = NginxServer(process: process, port: port)
        let caller = HTTPCaller(base: server.base)
        let answers = await server.answers(caller)
        await caller.close()
        guard answers else {
            _ = await process.stop()
            let text = String(decoding: FileManager.default.contents(atPath: log) ?? Data(), as: UTF8.self)
            throw StageFailure("\(program) did not start: \(text.suffix(500))")
        }
        return server
    }

    private func answers(_ caller: HTTPCaller) async -> Bool {
        for _ in 0..<Self.tries {
            guard process.isRunning else { return false }
            if let answer = try? await caller.call("POST", "/"), answer.status == 200 { return true }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    /// nginx cannot report a port that the system has chosen.
    private static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = channel.localAddress?.port
        try await channel.close()
        guard let port else { throw StageFailure("no port is free") }
        return port
    }

    /// The configuration file. Both roles keep their connections, as the gateway does.
    ///
    /// - Parameters:
    ///   - role: how it answers.
    ///   - port: its port of loopback.
    ///   - files: the beginning of the paths of its files.
    /// - Returns: the text of the file.
    static func configuration(_ role: Role, port: Int, files: String) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "scgi", "uwsgi"].map { "\($0)_temp_path \(files)-\($0);" }
        let keeping = "keepalive_requests \(callsPerConnection);"
        let server: [String]
        switch role {
        case .answers(let json):
            server = ["server { listen 127.0.0.1:\(port); default_type application/json; return 200 '\(json)'; }"]
        case .proxies(let upstream):
            let forwarding = #"proxy_pass http://old; proxy_http_version 1.1; proxy_set_header Connection "";"#
            server = [
                "upstream old { server 127.0.0.1:\(upstream); keepalive \(kept); \(keeping) }",
                "server { listen 127.0.0.1:\(port); location / { \(forwarding) } }",
            ]
        }
        let http = ["access_log off;", keeping, "keepalive_timeout 60s;"] + temporary + server
        // One process: it needs no other user, and a signal to it ends everything.
        let lines = ["daemon off;", "master_process off;", "pid \(files).pid;", "error_log stderr warn;"]
        return (lines + ["events { worker_connections \(2 * kept); }", "http {"] + http.map { "  \($0)" } + ["}", ""])
            .joined(separator: "\n")
    }
}
