import Adapters
import ArgumentParser
import CommandSupport
import Commands
import Gateway
import Model
import Secrets

/// The vendors' real services, as far as the gateway changes something there.
struct UpstreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upstream",
        abstract: "Make the vendor of an upstream report to this gateway.",
        discussion: "Upstreams are credentials: 'push-gateway credential list' lists them. See docs/routing.md.",
        subcommands: [Attach.self]
    )

    struct Attach: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a vendor report to this gateway what became of the messages that left through an upstream.",
            discussion: """
                Prints the change, and makes one call to the vendor with the upstream's credential. The vendor has one address, which cannot \
                be read: an earlier one is replaced. The command may be repeated. An upstream in a private network must be in \
                upstream.allow of this node. See docs/routing.md#later-reports.
                """
        )
        @Argument(help: "The upstream: the name of a credential.") var upstream: String
        @Option(help: "The tenant.") var tenant: String
        @Option(help: "The gateway's address as the vendor reaches it: https://push.example.com.")
        var publicUrl: String?
        @Flag(help: "Remove the address at the vendor: it reports no longer.") var undo = false
        @Option(
            help: "The app whose binding has the vendor's account. Default: the only app with a binding of the vendor."
        )
        var app: String?
        @Flag(help: "Print the change, and do not make it.") var dryRun = false
        @OptionGroup var common: CommonOptions

        func validate() throws {
            guard (publicUrl != nil) != undo else { throw ValidationError("give either --public-url or --undo") }
        }

        func run() async throws {
            let key = CredentialKey(tenant: TenantID(tenant), credential: CredentialID(upstream))
            try await common.withDatabase(isAudited: !dryRun) { configuration, database in
                let attachment = ReportAttachment(
                    database: database,
                    keyRing: try await database.keyRing(configuration),
                    vendors: .product,
                    allowing: try configuration.upstreamNetworks
                )
                do {
                    let change = try await attachment.change(key, app: app.map { AppID($0) }, to: publicUrl)
                    Console.print(change.text)
                    if dryRun { return }
                    // The row comes first: a change at the vendor without one would be worse than a row without a change.
                    try await database.commands.run(
                        AttachmentRules.begin(key.credential, to: change.address, by: common.actor),
                        in: key.tenant
                    )
                    try await attachment.make(change)
                    Console.print("The vendor has accepted it.")
                } catch let problem as ReportAttachment.Problem {
                    throw CommandFailure("upstream attach: \(problem)")
                }
            }
        }
    }
}
