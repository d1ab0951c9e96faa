import Foundation
import Hummingbird
import Logging

/// The smallest server that the web framework allows: the reference for a gateway that is built on it.
@main
struct HelloServer {
    static func main() async throws {
        let router = Router()
        router.post("hello") { _, _ in "Hello" }
        var logger = Logger(label: "hello-server")
        logger.logLevel = .warning
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                print(#"{"port":\#(channel.localAddress?.port ?? 0)}"#)
                fflush(nil)
            },
            logger: logger
        )
        try await application.runService()
    }
}
