package import Model
package import ObservationStore
package import Store

/// The agreement of an app with its upstreams.
package struct ParityReport: Sendable, Hashable {
    /// One for each metric with observations.
    package var figures: [ParityFigure]
    package var samples: [ParitySample]

    package init(figures: [ParityFigure], samples: [ParitySample]) {
        self.figures = figures
        self.samples = samples
    }
}

/// The figures of the agreement with upstreams.
package enum ParityRules {
    /// Adds observations to their hours.
    package static func add(_ rows: [AddParity.Row]) -> StoreRequest<Int> { StoreRequest(AddParity(rows)) { $0 } }

    /// The figures of an app since the beginning of the hour of `since`, and masked differences. Nil: the app does not exist.
    package static func shown(
        _ app: AppID,
        since: Timestamp
    ) -> StoreRequest<ParityReport?> {
        StoreRequest(
            FindApp(AppScope(app: app, vendor: .native)),
            MeasureParity(app, since: since),
            ShowParity(app, since: since)
        ) { app, figures, samples in
            app == nil ? nil : ParityReport(figures: figures, samples: samples)
        }
    }
}
