r"""Low-rank large-margin classification, level sets and regression for matrix features (SMM, a draft).

The model in four lines: matrices :math:`X_i\in\mathbb R^{d_1\times d_2}`, labels :math:`y_i=\pm1`,

.. math::

   f(X)&=\langle B,X\rangle+b,\qquad B=UV^\top,\ \operatorname{rank}B\le r,\\
   (B,b)&\in\arg\min\tfrac1n\sum_i\omega_\pi(y_i)L(y_if(X_i))+\lambda\lVert B\rVert_F^2,\qquad
      \omega_\pi(1)=1-\pi,\ \omega_\pi(-1)=\pi,\\
   \hat S(\pi)&=\{X:\hat f_\pi(X)>0\}\ \text{ estimates }\ \{X:P(y=1\mid X)>\pi\},\\
   \hat p(X)&=\tfrac1H\bigl(\tfrac12+\#\{1\le h<H:X\in\hat S(h/H)\}\bigr).
"""
