"""Model selection: paths over λ, cross-validation, leave-one-out."""
