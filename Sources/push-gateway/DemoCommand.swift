import Adapters
import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import GatewayDemo
import Model

/// `demo`: the whole gateway on this machine, without an account at any vendor.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start PostgreSQL, an APNs simulator and the gateway, and play each vendor's story on them.",
        discussion:
            """
            Exit status 0 only if every step held. With --stay the demo generates thirty days of history in an app of its own, continues to serve until ^C, \
            and prints URLs and keys.
            """
    )

    @Flag(help: "Generate a history for the web console, and leave everything running at the end.")
    var stay = false

    @Option(help: "The apns-simulator program. Default: in the directory of this program.")
    var simulator: String?

    @Flag(help: "Show each request and answer in full.")
    var verbose = false

    func run() async throws {
        let own = (CommandLine.arguments.first.map { URL(fileURLWithPath: $0) } ?? URL(fileURLWithPath: "push-gateway"))
            .resolvingSymlinksInPath()
        let neighbour = own.deletingLastPathComponent().appendingPathComponent("apns-simulator").path
        let identifiers = SystemIdentifiers()
        let stories = VendorCatalog.product.adapters.compactMap { adapter in
            (adapter as? any StoryVendor).map { (vendor: adapter.vendor, story: $0.story(identifiers)) }
        }
        let stage = try await DemoStage.open(
            gateway: own.path,
            simulator: simulator ?? neighbour,
            stories: stories,
            hasHistory: stay
        )
        do {
            try await DemoRun(stage: stage, isVerbose: verbose).play(stories.map(\.story))
            Console.print("\nEvery step held.")
            if stay {
                let history = try await stage.writeHistory()
                Console.print("\n\(history)\n")
                Console.print(stage.description)
                Console.print("\nThis link signs in to the web console, once and within 15 minutes. Choose a password:")
                Console.print(try await stage.invitation() + "\n")
                Console.print("Running; ^C ends it.")
                await TerminationSignal.wait()
            }
            try await stage.close()
        } catch {
            Console.error("demo: \(error)")
            Console.error("demo: logs are in \(stage.directory)")
            await stage.abandon()
            throw ExitCode(1)
        }
    }
}
