import Model
import PageParts

/// The figures of parity that do not come from observed calls: the last comparison of devices, and the receipts of both sides.
enum ParitySides {
    static func blocks(_ body: JSON, _ words: Wording) -> [Block] {
        let comparisons = body["devices"]?.array ?? []
        var parts: [Part] = [.table(devices(comparisons, words))]
        let examples = comparisons.flatMap { comparison -> [(vendor: String?, sample: JSON)] in
            (comparison["samples"]?.array ?? []).map { (vendor: comparison["vendor"]?.string, sample: $0) }
        }
        if !examples.isEmpty {
            parts.append(
                .table(
                    Table(
                        caption: words(ParityText.examples),
                        columns: [
                            .init(label: words(ParityText.vendor)), .init(label: words(ParityText.difference)),
                            .init(label: words(ParityText.key)),
                        ],
                        rows: examples.prefix(ConsoleLimits.rows).map { vendor, sample in
                            Table.Row(cells: [
                                .text(VendorName.of(vendor, words.language)),
                                .text(words(ParityText.deviceDifference(sample["difference"]?.string ?? ""))),
                                .mono(words.text(sample["key"])),
                            ])
                        }
                    )
                )
            )
        }
        return [
            Block(title: words(ParityText.devices), note: words(ParityText.devicesNote), body: parts),
            Block(
                title: words(ParityText.receipts),
                note: words(ParityText.receiptsNote),
                body: [.table(receipts(body["receipts"]?.array ?? [], words))]
            ),
        ]
    }

    private static func devices(_ comparisons: [JSON], _ words: Wording) -> Table {
        Table(
            caption: words(ParityText.devices),
            columns: [
                .init(label: words(ParityText.vendor)), .init(label: words(ParityText.differing), isNumber: true),
                .init(label: words(ParityText.compared), isNumber: true), .init(label: words(ParityText.comparedAt)),
                .init(label: words(ParityText.use)),
            ],
            rows: comparisons.map { comparison in
                let isUsable = comparison["usable"] == true
                return Table.Row(
                    cells: [
                        .strong(VendorName.of(comparison["vendor"]?.string, words.language)),
                        .text(comparison["difference"]?.double.map { words.share($0) } ?? Wording.unknown),
                        .text(words.count(comparison["compared"])), .text(words.time(comparison["at"])),
                        .tag(isUsable ? .ok : .warn, words(isUsable ? ParityText.usable : ParityText.outdated)),
                    ],
                    id: comparison["vendor"]?.string.map { "devices-\($0)" }
                )
            },
            empty: EmptyState(
                title: words(ParityText.notCompared),
                step: words(MigrationsText.moreFrom("devices"))
            )
        )
    }

    private static func receipts(_ dialects: [JSON], _ words: Wording) -> Table {
        func part(_ received: JSON?, _ accepted: JSON?) -> Table.Cell {
            .text("\(words.count(received)) / \(words.count(accepted))")
        }
        return Table(
            caption: words(ParityText.receipts),
            columns: [
                .init(label: words(ParityText.vendor)), .init(label: words(ParityText.ratio), isNumber: true),
                .init(label: words(ParityText.ownReceipts), isNumber: true),
                .init(label: words(ParityText.vendorReceipts), isNumber: true),
            ],
            rows: dialects.map { found in
                Table.Row(
                    cells: [
                        .strong(VendorName.of(found["vendor"]?.string, words.language)),
                        .text(found["ratio"]?.double.map { words.share($0) } ?? Wording.unknown),
                        part(found["received"], found["accepted"]),
                        part(found["vendorReceived"], found["vendorAccepted"]),
                    ],
                    id: found["vendor"]?.string.map { "receipts-\($0)" }
                )
            },
            empty: EmptyState(title: words(ParityText.noReceipts), step: words(ParityText.noReceiptsStep))
        )
    }
}
