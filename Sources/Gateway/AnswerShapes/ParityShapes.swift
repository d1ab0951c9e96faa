import Migration
package import Migrations
package import Model

/// The JSON forms of parity.
package enum ParityShapes {
    package static let figure = AnswerShape<ParityFigure>(
        "ParityFigure",
        [
            .word("metric", "The metric.") { $0.metric },
            .int("samples", "The observations.") { $0.samples },
            .int("differences", "The observations that disagree.") { $0.differences },
            .optionalNumber("agreement", "The share that agrees; null without observations.") { $0.agreement },
        ]
    )

    package static let sample = AnswerShape<ParitySample>(
        "ParitySample",
        [
            .word("metric", "The metric.") { $0.metric },
            .text("vendor", "The dialect of the call.", example: "braze") { $0.dialect.rawValue },
            .anyObject("facts", "The difference: the call, the names of fields, and masked answers.") { $0.facts },
        ]
    )

    private static let device = AnswerShape<JSON>(
        "ComparedDevice",
        [
            .text("difference", "How it differs: onlyInExport, onlyHere, token, user or push.", example: "token") {
                $0["difference"]?.string ?? ""
            },
            .text("key", "Its key, masked.", example: "…504f") { $0["key"]?.string ?? "" },
        ]
    )

    package static let devices = AnswerShape<ParityReadings.Devices>(
        "ParityDevices",
        [
            .text("vendor", "The dialect of the devices.", example: "upmc") { $0.dialect.rawValue },
            .time("at", "When they were compared.") { $0.at },
            .int("ageSeconds", "How long ago.") { Int(clamping: $0.age.components.seconds) },
            .flag("usable", "Whether gates use it: after 24 hours a comparison counts as no data.") { $0.isUsable },
            .optionalNumber("difference", "The share of devices that differ.") { $0.summary.difference },
            .int("compared", "The devices of both sides, and rows that cannot be read.") {
                MigrationMeter.devices($0.summary)?.samples ?? 0
            },
            .int("rejected", "Rows of the export that cannot be read.") { $0.summary.rejected },
            .int("onlyInExport", "Devices that only the export has.") { $0.summary.onlyInExport },
            .int("onlyHere", "Devices that only the gateway has.") { $0.summary.onlyHere },
            .int("tokenDiffers", "Devices with another token.") { $0.summary.tokenDiffers },
            .int("userDiffers", "Devices of another user.") { $0.summary.userDiffers },
            .int("pushDiffers", "Devices with another push setting.") { $0.summary.pushDiffers },
            .list("samples", device, "Some of them, at most 20.") { $0.summary.samples },
        ]
    )

    package static let receipts = AnswerShape<ParityReadings.Receipts>(
        "ParityReceipts",
        [
            .text("vendor", "The dialect of the devices.", example: "upmc") { $0.dialect.rawValue },
            .optionalNumber(
                "ratio",
                "Received pushes per accepted push of the gateway, divided by the same of the vendor's; null: no receipt of the vendor's."
            ) { $0.measurement?.value },
            .int64("accepted", "Pushes of the gateway.") { $0.shares.moved.delivered },
            .int64("received", "Those of them that were received.") { $0.shares.moved.received },
            .int64("vendorAccepted", "Pushes of the vendor.") { $0.shares.others.delivered },
            .int64("vendorReceived", "Those of them that were received.") { $0.shares.others.received },
        ]
    )
}
