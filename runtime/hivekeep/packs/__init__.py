"""The packs: each implements its generated Protocol and knows neither another pack nor how it is called."""
