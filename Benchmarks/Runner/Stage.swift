import FoundationEssentials
import Glibc

/// The files that all runs share, in a temporary folder: certificates, a provider key, the payload and the paths for h2load.
struct Stage {
    let folder: String
    let programs: String
    /// 1,000 different paths. h2load builds a request for each when it starts; with 200,000 of them that would be a third of its CPU time.
    static let pathCount = 1_000
    /// A field value for clients that do not sign. It has the length of a provider token's, and HPACK encodes its letters equally well.
    static let authorization =
        "bearer eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQ0RFMTIzNDUifQ.eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoxNzYzNzcwMDAwfQ."
        + "3Xk9mQ0vTzR7bLwYcJ5uHdNs2PfGaE8iVoKq1xMjBtUyZr4SgCnAhDl6eWpXkFQ9m0vTzR7bLwYcJ5uHdNs2Pg"

    private let options: RunnerOptions

    /// Creates the folder and its files.
    ///
    /// - Throws: `BenchFailure` if a tool is missing.
    init(_ options: RunnerOptions) throws {
        self.options = options
        programs = options.programs
        var template = Array("/tmp/push-gateway-bench.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw BenchFailure("no temporary folder") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let tools = ["/usr/bin/taskset", "/usr/bin/openssl", "/usr/bin/h2load"]
        for tool in tools where !FileManager.default.isExecutableFile(atPath: tool) {
            throw BenchFailure("\(tool) is missing (apt-get install nghttp2-client nghttp2-server openssl util-linux)")
        }
        try makeCertificates()
        let start = #"{"aps":{"alert":""#
        let text = String(repeating: "x", count: max(0, options.bodyBytes - start.utf8.count - 3))
        try write(start + text + #""}}"#, to: "body")
        try FileManager.default.createDirectory(atPath: path("www/3/device"), withIntermediateDirectories: true)
    }

    /// The path of a file in the folder.
    func path(_ name: String) -> String { folder + "/" + name }

    /// Writes the list for h2load; the tokens are those that our clients send with `--tokens`.
    ///
    /// - Throws: an error of writing.
    func writePaths(port: Int, tokens: [String]) throws {
        try write(tokens.map { "https://localhost:\(port)/3/device/\($0)\n" }.joined(), to: "paths")
    }

    /// Creates a file per path, for the server that serves files.
    ///
    /// - Throws: an error of writing.
    func writeFiles(tokens: [String]) throws {
        for token in tokens { try write("", to: "www/3/device/" + token) }
    }

    /// Removes the folder.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    private func makeCertificates() throws {
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        try openssl(
            ["req", "-x509", "-subj", "/CN=bench CA", "-addext", "basicConstraints=critical,CA:TRUE"] + curve
                + ["-keyout", path("ca.key"), "-out", path("ca.pem")]
        )
        try openssl(
            [
                "req", "-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-addext",
                "basicConstraints=critical,CA:FALSE", "-CA", path("ca.pem"), "-CAkey", path("ca.key"),
            ] + curve + ["-keyout", path("key.pem"), "-out", path("cert.pem")]
        )
        try openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path("provider.p8")])
    }

    private func openssl(_ arguments: [String]) throws {
        let child = try Child(["/usr/bin/openssl"] + arguments, core: options.serverCore, outputFile: path("openssl"))
        guard try child.wait(limit: 30).status == 0 else { throw BenchFailure("openssl: \(child.errors)") }
    }
}
